// Writes to the run's standard output and error while others could run.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// True for a live write(2) to one of the streams; call.flags says which.
bool is_stream_write(const Call& call);
// Makes it with the baton, which is given up while the stream's reader has left no room.
long write_to_stream(Call& call);

// True if a live sendfile or splice to one of the streams can be made as a read and a write, of which the replay
// repeats the latter: what the kernel copies by itself never is in memory.
bool can_be_copied(const Call& call);
// Makes and logs it; what it wrote is in the thread's scratch memory then, in a replay too.
long copy_to_stream(Call& call);

}  // namespace reweave::core
