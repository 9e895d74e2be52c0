// Finds the callers of the events that an explanation names, and the heap blocks that the events use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "explorer/explain/explanation.h"

namespace reweave {

// Traces `recording`, a recording of the explained run. Fills explanation.contexts for the events of events_named()
// that occur in the trace.
void add_contexts(Explanation& explanation, const std::string& recording);
// Does the same with a trace of the explained run.
void add_traced_contexts(Explanation& explanation, const std::string& trace);

// Returns the step of the failing schedule after which the failure was inevitable, and its choice. None if there is no
// such step.
std::optional<std::pair<Arrival, std::size_t>> inevitable_step(const Explanation& explanation);
// Returns the events that the report names, each with its object: the inevitable step, the events of the deadlock, of
// the flips, of the orders that fail together and of the remedies, and the acquisition of the first lock held in each
// of these events.
std::map<Arrival, std::uint64_t> events_named(const Explanation& explanation);

}  // namespace reweave
