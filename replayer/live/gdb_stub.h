// Serves gdb's remote protocol for a replay, forward and backward, as gdbserver does for a live process.
#pragma once

#include "replayer/live/held_replay.h"

namespace reweave {

// Serves the gdb that connects to the socket `listener`, beginning at `where`: an event, "end", or the name of a
// position. When the replay is there, writes the announcement of hold_command.h to `reply_fd`. Returns the exit status.
int serve_gdb(const ReplaySource& source, const std::string& where, bool quiet, int listener, int reply_fd);

}  // namespace reweave
