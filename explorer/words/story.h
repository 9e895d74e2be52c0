// A failing schedule in plain words: which thread stops where, which threads run in between, what then breaks.
#pragma once

#include <string>

#include "explorer/run/run.h"
#include "explorer/words/places.h"

namespace reweave {

// `run` must have been observed.
std::string tell_story(const RunResult& run, Places& places);
// Describes the failure of programs that do not report it themselves.
std::string tell_ending(const RunResult& run, Places& places);

}  // namespace reweave
