#include "explorer/explain/report_steps.h"

namespace reweave {

using nlohmann::json;

std::vector<json> steps_of_cause(const json& report) {
  std::vector<json> steps;
  for (const json& wait : report.at("deadlock")) steps.insert(steps.end(), {wait.at("holds"), wait.at("wants")});
  if (!steps.empty() || report.at("flips").empty()) return steps;
  const json& flip = report.at("flips").at(0);
  if (!flip.contains("block")) return {flip.at("first"), flip.at("then")};
  const json& block = flip.at("block");
  return {block.at("begin"), block.at("between"), block.at("end")};
}

}  // namespace reweave
