// Detects programs that leave a search nothing to choose.
#pragma once

#include <string>

#include "explorer/run/fork_server.h"
#include "explorer/run/run.h"

namespace reweave {

// True if every explored run would be like `run`, which was made from `departure` of `recording`: there was only one
// thread all the time, and it did not call reweave::choose.
bool has_one_schedule(const std::string& recording, const Departure& departure, const RunResult& run);

}  // namespace reweave
