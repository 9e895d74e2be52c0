// The other side of a debugger: a replay that waits at an event until it is told to go on.
//
// Started by the gdb script with a pipe as its standard input. It writes one line of JSON to `reply_fd` once a process
// waits: its id, its program, and where the debugger finds things in its memory. Then each `g` that it reads lets the
// process go on; the end of its input ends the replay.
#pragma once

#include <cstdint>
#include <string>

namespace reweave {

struct HoldArguments {
  std::string recording;
  std::string where;     // an event number, or "end"
  std::int32_t pid = 0;  // the process to debug, as recorded; 0: see plan_hold
  int reply_fd = 1;
  bool discard_output = false;
};

// Returns the exit status: 0 if it was ended by its input or the run ended as recorded.
int hold_for_debugger(const HoldArguments& arguments);

}  // namespace reweave
