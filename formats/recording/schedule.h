// A schedule: the explorer's instructions to the runtime. On disk: schedule.capnp, one message in a file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/event.h"

namespace reweave {

struct ScheduleSwitch {
  std::uint64_t step = 0;  // global schedule point
  ThreadId from = 0;
  ThreadId to = 0;

  bool operator==(const ScheduleSwitch&) const = default;
};

struct Schedule {
  std::string policy;
  std::uint64_t seed = 0;
  std::vector<ScheduleSwitch> switches;                     // steps strictly rising
  std::vector<std::pair<std::string, std::string>> params;  // of the policy

  bool operator==(const Schedule&) const = default;
};

// Throws BadFile.
Schedule read_schedule(const std::string& path);
// Replaces the file atomically.
void write_schedule(const std::string& path, const Schedule& schedule);

}  // namespace reweave
