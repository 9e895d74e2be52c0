// A failing run of a campaign, with everything that this process or another one needs to repeat it.
#pragma once

#include <cstdint>
#include <string>

#include "explorer/run/run.h"
#include "explorer/run/switches.h"

namespace reweave {

struct FoundFailure {
  RunResult end;             // only outcome, status, text and races
  std::uint64_t site = 0;    // failure_site()
  SwitchList switches;       // the policy `schedule` repeats it from these
  std::string how;           // the search that found it, for people
  std::uint64_t number = 0;  // of the run, from 1
  std::uint64_t count = 1;   // runs that ended like this one
};

}  // namespace reweave
