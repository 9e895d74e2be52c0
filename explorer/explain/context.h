// Where the events that an explanation names lie: their callers, and the heap blocks that they use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "explorer/explain/explanation.h"

namespace reweave {

// Traces `recording`, which is of the explained run, and finds the events of the deadlock and the flips in the trace.
// Events that it does not have are left out.
void add_contexts(Explanation& explanation, const std::string& recording);
// The same from a trace of the explained run.
void add_traced_contexts(Explanation& explanation, const std::string& trace);

// The last step that was followed where the failure became inevitable, and its choice; none: there is no such step.
std::optional<std::pair<Arrival, std::size_t>> inevitable_step(const Explanation& explanation);
// That step, the events of the deadlock and the flips, where their threads took the locks that they hold there, and the
// object of each.
std::map<Arrival, std::uint64_t> events_named(const Explanation& explanation);

}  // namespace reweave
