// A failing schedule in plain words: which thread stops where, who runs in between, what then breaks.
#pragma once

#include <string>

#include "explorer/places.h"
#include "explorer/run.h"

namespace reweave {

// `run` must have been observed.
std::string tell_story(const RunResult& run, Places& places);
// What breaks, where the program does not say so itself.
std::string tell_ending(const RunResult& run, Places& places);

}  // namespace reweave
