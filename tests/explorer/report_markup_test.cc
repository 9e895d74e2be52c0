// Text put into the HTML of a report is shown as text and never acts as markup.
#define BOOST_TEST_MODULE report_markup
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "explorer/explain/html/markup.h"
#include "explorer/explain/html/packed_report.h"

namespace reweave {
namespace {

BOOST_AUTO_TEST_CASE(text_is_escaped_as_content_and_as_value) {
  const Html html = element("p", {{"title", "a\"b'c<d>"}}, {"</p><script>&", element("b", {}, {"x"})});
  BOOST_TEST(html.markup() == "<p title=\"a&quot;b&#39;c&lt;d&gt;\">&lt;/p&gt;&lt;script&gt;&amp;<b>x</b></p>");
}

BOOST_AUTO_TEST_CASE(what_is_not_seen_is_shown) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"plain \t\n é 漢 🎉 שלום", "plain \t\n é 漢 🎉 שלום"},
      {std::string_view("a\0b\x1b[31m\x7f", 9), "a‹U+0000›b‹U+001B›[31m‹U+007F›"},
      {"a\u202egpj.exe", "a‹U+202E›gpj.exe"},
      {"\u2066x\u2069\u200b\ufeff\u2028", "‹U+2066›x‹U+2069›‹U+200B›‹U+FEFF›‹U+2028›"},
      {"\xff\xc0\xaf\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xe6\xbc", "\uFFFD\uFFFD"},
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"}};
  for (const auto& [text, shown] : rows) BOOST_TEST(visible(text) == shown);
  BOOST_TEST(visible("漢漢漢", 7) == "漢漢…");
}

BOOST_AUTO_TEST_CASE(data_cannot_end_its_element) {
  const nlohmann::json data = {{"a", "</script><!--<script>"}};
  const std::string block = data_block(data);
  BOOST_TEST(block.find('<') == std::string::npos);
  BOOST_TEST(nlohmann::json::parse(block) == data);
}

BOOST_AUTO_TEST_CASE(columns_give_back_the_steps) {
  using nlohmann::json;
  const auto step = [](int thread, int line, int number, int choice) {
    return json{{"thread", thread}, {"does", "reads"},
                {"object", "o"},    {"place", "f (x.c:" + std::to_string(line) + ")"},
                {"number", number}, {"choice", choice}};
  };
  json steps = {step(1, 5, 1, 3), step(2, 5, 4, 9), step(1, 6, 1, 10), step(1, 5, 2, 20)};
  const json report = {
      {"flips", json::array({{{"first", steps[3]}}})}, {"failing", {{"steps", steps}}}, {"passing", json()}};
  const json whole = packed_report(report, 10), part = packed_report(report, 2);
  BOOST_TEST(whole["failing"]["steps"] == json::parse(R"({"before": 0, "behind": 0, "threads": [1, 2, 1, 1],
      "code": [0, 0, 1, 0], "objects": [0, 0, 0, 0], "numbers": [1, 4, 1, 1], "choices": [3, 6, 1, 10]})"));
  BOOST_TEST(part["failing"]["steps"]["before"] == 2);
  BOOST_TEST(part["failing"]["steps"]["choices"] == json({10, 10}));
}

}  // namespace
}  // namespace reweave
