#include "explorer/explain/way/way_json.h"

#include <nlohmann/json.hpp>

#include "explorer/explain/way/way_words.h"

namespace reweave {

namespace {

using nlohmann::json;

json step_json(const WayStep& step, Places& places) {
  json row = {
      {"thread", step.thread}, {"does", way_verb(step.kind)}, {"object", step.object}, {"place", places.code(step.pc)}};
  if (step.value) row["value"] = *step.value;
  if (step.other) row["with"] = *step.other;
  if (step.event) row["event"] = *step.event;
  if (step.unwritten) row["unwritten"] = true;
  if (step.number != 0) row["number"] = step.number;
  if (step.bytes != 0 && step.event) {
    row["address"] = step.address;
    row["bytes"] = step.bytes;
  }
  const SourceFrame* source = places.source(step.pc);
  if (source == nullptr || source->file.empty()) return row;
  row["function"] = source->function;
  row["file"] = source->file;
  row["line"] = source->line;
  row["source"] = places.source_line(step.pc);
  return row;
}

}  // namespace

json way_json(const ValueWay& way, Places& places) {
  json steps = json::array();
  for (std::size_t i = 0; i < way.steps.size(); i++) {
    const WayStep& step = way.steps[i];
    steps.push_back(step_json(step, places));
    steps.back()["text"] = way_words(step, i > 0 && way.steps[i - 1].thread == step.thread, places);
    for (const MissedWrite& missed : way.missed)
      if (step.kind == WayStep::Kind::kReads && step.event == missed.event)
        steps.back()["before"] = step_json(missed.write, places);
  }
  return {{"steps", steps}, {"end", way.end}};
}

}  // namespace reweave
