#include "explorer/explain/html/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "explorer/explain/html/curve.h"
#include "explorer/explain/html/figures.h"

namespace reweave {

using nlohmann::json;

namespace {

Html table_head(std::initializer_list<const char*> titles) {
  Html cells;
  for (const char* title : titles) cells += element("th", {{"scope", "col"}}, {title});
  return element("thead", {}, {element("tr", {}, {cells})});
}

Html table(std::string_view look, const Html& titles, const Html& rows) {
  // The table scrolls in a narrow window; it must be focusable so that the keyboard can scroll it.
  return element("div", {{"class", "wide"}, {"tabindex", "0"}},
                 {element("table", {{"class", std::string(look)}}, {titles, element("tbody", {}, {rows})})});
}

Html rate_cell(const json& rate) {
  if (rate.at("tried") == 0) return element("td", {{"class", "rate"}}, {element("small", {}, {"not feasible"})});
  return element(
      "td", {{"class", "rate"}},
      {element("b", {}, {count_text(rate)}), interval_drawing(rate), element("small", {}, {interval_text(rate)})});
}

Html flip_row(const json& flip, std::size_t index) {
  Html order = step_line(flip.at("first"));
  order += step_line(flip.at("then"));
  Html about = element("ol", {{"class", "steps"}}, {order});
  if (flip.contains("block")) {
    const json& block = flip.at("block");
    about += element("p", {{"class", "remark"}},
                     {fmt::format("It interrupts a block of thread {}, from {} to {}; the orders at both ends of the "
                                  "block were forced together.",
                                  block.at("begin").at("thread").get<std::uint64_t>(),
                                  block.at("begin").at("place").get<std::string>(),
                                  block.at("end").at("place").get<std::string>())});
  }
  const bool necessary = flip.at("necessary").get<bool>();
  return element(
      "tr", {{"data-flip", fmt::format("{}", index)}},
      {element("td", {{"class", "order"}}, {about}), rate_cell(flip.at("reversed")), rate_cell(flip.at("forced")),
       rate_cell(flip.at("avoided")),
       element("td", {}, {element("span", {{"class", necessary ? "yes" : "no"}}, {necessary ? "yes" : "no"})})});
}

Html pattern_row(const json& pattern) {
  Html accesses;
  for (const json& access : pattern.at("accesses")) accesses += step_line(access);
  const auto best = pattern.at("best_rank").get<std::uint64_t>(), worst = pattern.at("worst_rank").get<std::uint64_t>();
  const auto number = [&](const char* member) { return fmt::format("{}", pattern.at(member).get<std::uint64_t>()); };
  return element(
      "tr", {},
      {element("td", {}, {best == worst ? fmt::format("{}", best) : fmt::format("{} to {}", best, worst)}),
       element("td", {}, {fmt::format("{:.2f}", pattern.at("suspiciousness").get<double>())}),
       element("td", {}, {number("failed") + " of " + number("of_failed")}), element("td", {}, {number("passed")}),
       element("td", {{"class", "order"}}, {element("ol", {{"class", "steps"}}, {accesses})})});
}

}  // namespace

Html flips_section(const json& report) {
  const json& flips = report.at("flips");
  if (flips.empty()) return {};
  Html rows;
  for (std::size_t i = 0; i < flips.size(); i++) rows += flip_row(flips[i], i);
  Html content = element(
      "p", {},
      {fmt::format("The number of failing runs when the order of two events is changed. Pairs in another order in the "
                   "nearest passing run: {}.",
                   report.at("reordered_pairs").get<std::uint64_t>())});
  content += table("flips",
                   table_head({"In the failing run, the first before the second",
                               "The failing schedule, with only this order reversed", "This order, else at random",
                               "Other order, else at random", "Necessary"}),
                   rows);
  return section("flips", "Orders that were changed", content);
}

Html curve_section(const json& report) {
  const Html drawing = curve_drawing(report);
  if (drawing.markup().empty()) return {};
  Html rows;
  for (const json& point : report.at("curve"))
    rows += element(
        "tr", {},
        {element("td", {}, {fmt::format("{}", point.at("choice").get<std::uint64_t>())}),
         element("td", {}, {count_text(point.at("rate"))}), element("td", {}, {interval_text(point.at("rate"))})});
  Html content =
      element("p", {},
              {"The probability of the failure if the failing schedule is followed up to this choice and chance "
               "decides afterwards; the band is the 95 % interval."});
  content += drawing;
  content += element("details", {},
                     {element("summary", {}, {"The figures"}),
                      table("figures", table_head({"Choices followed", "Runs that fail", "95 % interval"}), rows)});
  return section("curve", "When it became inevitable", content);
}

Html patterns_section(const json& report) {
  constexpr std::size_t kShown = 3;
  const json& patterns = report.at("patterns");
  if (patterns.empty()) return {};
  Html first, others;
  for (std::size_t i = 0; i < patterns.size(); i++) (i < kShown ? first : others) += pattern_row(patterns[i]);
  const Html titles = table_head({"Rank", "Suspicion", "In failing runs", "In passing runs", "Accesses"});
  Html content =
      element("p", {},
              {"Accesses in this order, ranked by how well they separate failing runs from passing ones (Jaccard). "
               "The thread numbers are examples: equal numbers mean the same thread, different numbers mean "
               "different threads."});
  content += table("patterns", titles, first);
  if (patterns.size() > kShown)
    content += element("details", {},
                       {element("summary", {}, {fmt::format("{} more", patterns.size() - kShown)}),
                        table("patterns", titles, others)});
  return section("patterns", "Access patterns", content);
}

}  // namespace reweave
