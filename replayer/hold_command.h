// A replay under a debugger: it holds at an event until it is told to continue.
//
// The gdb script starts it with a pipe as its standard input. Once a process is held, it writes one line of JSON to
// `reply_fd`: the process's id, its program, and the places of the runtime's state in its memory. After that, each `g`
// that it reads lets the process continue. The replay ends when its input ends.
//
// A replay that makes checkpoints accepts two more requests. It answers `c` with a line that has the checkpoint's
// descriptor, or the reason why there is none. After `t` and the number of an event, in eight bytes, it continues and
// holds again before that event. Such replays, and copies that start from a checkpoint, announce only the process and
// its program, and report the outcome of the run at its end.
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
  bool makes_checkpoints = false;  // requires `reply_fd` to be a socket
  CopyOrigin origin;               // if set, `where` must be the number of an event at which the replay can hold
};

// Returns the exit status: 0 if its input ended, or the run ended as recorded.
int hold_for_debugger(const HoldArguments& arguments);

}  // namespace reweave
