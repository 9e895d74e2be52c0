// gdb's remote protocol on a replay, forward and backward: what gdbserver is for a live process.
#pragma once

#include "replayer/live/held_replay.h"

namespace reweave {

// Serves the gdb that connects to the socket `listener`, from `where` on: an event, "end", or the name of a position.
// Once that is reached, what hold_command.h announces is written to `reply_fd`. Returns the exit status.
int serve_gdb(const ReplaySource& source, const std::string& where, bool quiet, int listener, int reply_fd);

}  // namespace reweave
