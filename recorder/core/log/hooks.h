// What reading and writing records asks of the rooms above: functions that core/wiring.cc names. Each is called by the
// baton holder, and may read and write records itself.
#pragma once

#include "formats/wire.h"

namespace reweave::core {

struct LogHooks {
  // Replay: a process was killed from outside here. Kills ours, but for the calling one.
  void (*repeat_outside_death)(const wire::ProcessExitRecord& record);
  // Then that, if it is the calling one and no other was killed at the same time. Does not return.
  void (*die_outside)(const wire::ProcessExitRecord& record);
  // A hash of the writable memory of the calling process alone.
  std::uint64_t (*hash_private_memory)();
};
[[gnu::visibility("hidden")]] extern const LogHooks log_hooks;

}  // namespace reweave::core
