// Replays the explained run up to the events that an explanation names, to find the variables through which the program
// reaches their objects, and their callers.
#pragma once

#include <chrono>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/words/places.h"

namespace reweave {

// Replays `run`, a recording of the explained run. Fills EventContext::variable of events whose object is not a global
// variable, and EventContext::callers of events in libraries for which the trace has none. Returns false if the
// deadline or an interruption (interruption.h) came before all events were visited. Throws BadInput if the replay does
// not work.
bool visit_events(Explanation& explanation, const std::string& run, Places& places,
                  std::chrono::steady_clock::time_point deadline);

}  // namespace reweave
