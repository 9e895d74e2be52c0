// Replays the explained run up to the events that an explanation names: what they use, by the variables that the
// program has at that instant, and who calls them.
#pragma once

#include <chrono>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/places.h"

namespace reweave {

// Replays `run`, a recording of the explained run. Fills EventContext::variable of events whose object is no global
// variable, and EventContext::callers of those in a library of which the trace has none. What is not reached before the
// deadline stays without. Throws BadInput if the replay does not work.
void visit_events(Explanation& explanation, const std::string& run, Places& places,
                  std::chrono::steady_clock::time_point deadline);

}  // namespace reweave
