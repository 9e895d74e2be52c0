// Finds the callers of the events that an explanation names, and the heap blocks that the events use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "explorer/explain/explanation.h"

namespace reweave {

// Traces `recording`, a recording of the explained run, and fills `contexts` with those of events_named() that are in
// the trace.
void add_contexts(Explanation& explanation, const std::string& recording);
// Does the same with a trace of the explained run.
void add_traced_contexts(Explanation& explanation, const std::string& trace);

// The last step of the schedule that was followed when the failure became inevitable, and its choice; none if there is
// no such step.
std::optional<std::pair<Arrival, std::size_t>> inevitable_step(const Explanation& explanation);
// The events that the report names, each with its object: the inevitable step, the events of the deadlock and the
// flips, and the acquisitions of the first locks held in these events.
std::map<Arrival, std::uint64_t> events_named(const Explanation& explanation);

}  // namespace reweave
