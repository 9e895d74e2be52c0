#include "explorer/explain/html/packed_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "explorer/explain/html/markup.h"

namespace reweave {

using nlohmann::json;

namespace {

// Numbers texts or places in the order of their first use.
class Table {
 public:
  std::size_t number_of(const json& row) {
    const auto [entry, fresh] = numbers_.emplace(row, rows_.size());
    if (fresh) rows_.push_back(row);
    return entry->second;
  }
  const json& rows() const { return rows_; }

 private:
  std::map<json, std::size_t> numbers_;
  json rows_ = json::array();
};

class ReportPacker {
 public:
  ReportPacker(const json& report, std::size_t most) : report_(report), most_(most) {}

  json whole() {
    json packed = report_;
    packed["failing"] = schedule(report_.at("failing"));
    if (!report_.at("passing").is_null()) packed["passing"] = schedule(report_.at("passing"));
    packed["code"] = code_.rows();
    packed["objects"] = objects_.rows();
    return packed;
  }

 private:
  // The members of a step that depend only on its place in the code.
  static json code_of(const json& step) {
    json code = {{"does", step.at("does")}, {"place", step.at("place")}};
    for (const char* member : {"function", "file", "line", "source"})
      if (step.contains(member)) code[member] = step.at(member);
    return code;
  }

  // Index of the step with which the cause begins; the number of steps if there is none.
  std::size_t middle(const json& steps) const {
    const json& flips = report_.at("flips");
    if (flips.empty()) return steps.size();
    const json& first = flips.at(0).at("first");
    const auto same = [&](const json& step) {
      return std::ranges::all_of(std::initializer_list<const char*>{"thread", "does", "object", "place", "number"},
                                 [&](const char* member) { return step.at(member) == first.at(member); });
    };
    return static_cast<std::size_t>(std::ranges::find_if(steps, same) - steps.begin());
  }

  json schedule(const json& whole) {
    const json& steps = whole.at("steps");
    const std::size_t count = std::min(most_, steps.size());
    const std::size_t before = std::min(std::max(middle(steps), count / 2) - count / 2, steps.size() - count);
    json columns = {{"before", before}, {"behind", steps.size() - count - before}};
    for (const char* column : {"threads", "code", "objects", "numbers", "choices"}) columns[column] = json::array();
    std::map<std::tuple<std::int64_t, std::size_t, std::size_t>, std::int64_t> numbers;
    std::int64_t choice = 0;
    for (std::size_t i = before; i < before + count; i++) {
      const json& step = steps.at(i);
      const auto thread = step.at("thread").get<std::int64_t>();
      const std::size_t code = code_.number_of(code_of(step)), object = objects_.number_of(step.at("object"));
      columns["threads"].push_back(thread);
      columns["code"].push_back(code);
      columns["objects"].push_back(object);
      std::int64_t& number = numbers[{thread, code, object}];
      columns["numbers"].push_back(difference(step.at("number"), number));
      columns["choices"].push_back(difference(step.at("choice"), choice));
    }
    json packed = whole;
    packed["steps"] = columns;
    return packed;
  }

  // Returns `value` minus `before`, and sets `before` to `value`.
  static std::int64_t difference(const json& value, std::int64_t& before) {
    const auto now = value.get<std::int64_t>();
    return now - std::exchange(before, now);
  }

  const json& report_;
  std::size_t most_;
  Table code_, objects_;
};

}  // namespace

json shown_report(const json& report) {
  if (report.is_string()) return visible(report.get_ref<const std::string&>());
  json shown = report;
  if (report.is_structured())
    for (auto& [key, value] : shown.items()) value = shown_report(value);
  return shown;
}

json packed_report(const json& report, std::size_t most) { return ReportPacker(report, most).whole(); }

std::string data_block(const json& report) {
  std::string text;
  for (const char c : report.dump()) {
    if (c == '<')
      text += "\\u003c";  // '<' occurs only in strings
    else
      text += c;
  }
  return text;
}

}  // namespace reweave
