// A failing run of a campaign, told so that the run can be made again, by this process or by another.
#pragma once

#include <cstdint>
#include <string>

#include "explorer/run.h"
#include "explorer/switches.h"

namespace reweave {

struct FoundFailure {
  RunResult end;             // how it ended: outcome, status, text and races alone
  std::uint64_t site = 0;    // failure_site()
  SwitchList switches;       // from which the policy `schedule` makes it again
  std::string how;           // what found it, for people
  std::uint64_t number = 0;  // of the run, from 1
  std::uint64_t count = 1;   // runs that ended like this one
};

}  // namespace reweave
