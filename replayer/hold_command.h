// A replay under a debugger: it holds at an event until it is told to continue.
//
// Started by the gdb script with a pipe as its standard input. Once a process is held, it writes one line of JSON to
// `reply_fd`: the process's id, its program, and where the debugger finds things in its memory. Then each `g` that it
// reads lets the process continue; the end of its input ends the replay.
//
// A replay that makes checkpoints takes `c`, too, answered by a line with the descriptor of the checkpoint or with the
// reason why there is none, and `t` with an event of eight bytes: it goes on, and holds again before that event. These,
// and copies that start from a checkpoint, answer more shortly, and at their end with how they ended.
#pragma once

#include <cstdint>
#include <string>

#include "replayer/replay_session.h"

namespace reweave {

struct HoldArguments {
  std::string recording;
  std::string where;     // an event number, or "end"
  std::int32_t pid = 0;  // the process to debug, as recorded; 0: see plan_hold
  int reply_fd = 1;
  bool discard_output = false;
  bool check = false;
  bool makes_checkpoints = false;  // `reply_fd` is a socket
  CopyOrigin origin;               // `where` is a number at which it can hold
};

// Returns the exit status: 0 if its input ended, or the run ended as recorded.
int hold_for_debugger(const HoldArguments& arguments);

}  // namespace reweave
