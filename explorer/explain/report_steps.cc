#include "explorer/explain/report_steps.h"

#include <algorithm>

namespace reweave {

using nlohmann::json;

json orders_together(const json& report) {
  const json together = report.value("together", json());
  return together.is_null() ? json::array() : together.at("orders");
}

bool only_needs_order(const json& report) {
  const json& flips = report.at("flips");
  return report.at("deadlock").empty() && !report.at("cause_shown").get<bool>() && !flips.empty() &&
         flips.at(0).at("necessary").get<bool>();
}

std::vector<json> steps_of_cause(const json& report) {
  std::vector<json> steps;
  for (const json& wait : report.at("deadlock")) steps.insert(steps.end(), {wait.at("holds"), wait.at("wants")});
  if (!steps.empty() || !(report.at("cause_shown").get<bool>() || only_needs_order(report))) return steps;
  if (const json together = orders_together(report); !together.empty()) {
    for (const json& order : together)
      for (const char* end : {"first", "then"})
        if (std::ranges::find(steps, order.at(end)) == steps.end()) steps.push_back(order.at(end));
    std::ranges::stable_sort(steps, {}, [](const json& step) { return step.at("choice").get<std::uint64_t>(); });
    return steps;
  }
  const json& flip = report.at("flips").at(0);
  if (!flip.contains("block")) return {flip.at("first"), flip.at("then")};
  const json& block = flip.at("block");
  return {block.at("begin"), block.at("between"), block.at("end")};
}

json main_step_of_cause(const json& report) {
  const std::vector<json> steps = steps_of_cause(report);
  const bool is_block = report.at("deadlock").empty() && orders_together(report).empty() && steps.size() == 3;
  if (is_block && steps[1].contains("file")) return steps[1];
  const auto placed = std::ranges::find_if(steps, [](const json& step) { return step.contains("file"); });
  return placed == steps.end() ? json() : *placed;
}

}  // namespace reweave
