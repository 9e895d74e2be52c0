// Functions of higher folders that reading and writing records needs; core/wiring.cc names them. The baton holder calls
// them, and they may read and write records themselves.
#pragma once

#include "formats/wire.h"

namespace reweave::core {

struct LogHooks {
  // Replay: a process was killed from outside here. Kills its counterpart, unless that is the calling process.
  void (*repeat_outside_death)(const wire::ProcessExitRecord& record);
  // Afterwards: kills the calling process, which was among those killed. Does not return.
  void (*die_outside)(const wire::ProcessExitRecord& record);
  // Called while the baton holder is held (RunStatus::held), when the supervisor asks for a checkpoint there. True in
  // each copy that is started from the checkpoint.
  bool (*make_checkpoint)();
  // A hash of the calling process's writable private memory.
  std::uint64_t (*hash_private_memory)();
};
[[gnu::visibility("hidden")]] extern const LogHooks log_hooks;

}  // namespace reweave::core
