// gdb on a replayed process.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct DebugArguments {
  std::string recording;
  std::string where;     // the event to stop before, or "end"
  std::int32_t pid = 0;  // the process to debug, as recorded; 0: see plan_hold
  bool batch = false;    // run `commands` without a terminal
  std::string commands;  // separated by ';'
  bool discard_output = false;
};

// Becomes gdb: its exit status is ours. Returns only by throwing, if gdb cannot be started.
[[noreturn]] void debug_recording(const DebugArguments& arguments);

}  // namespace reweave
