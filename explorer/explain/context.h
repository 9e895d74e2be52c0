// Where the events that an explanation names lie: their callers, and the heap blocks that they use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explorer/explain/explanation.h"

namespace reweave {

// Traces `recording`, which is of the explained run, below `folder`, and finds the events of the deadlock and the flips
// in it. Events that the trace does not have are left out.
void add_contexts(Explanation& explanation, const std::string& recording, const std::string& folder);

}  // namespace reweave
