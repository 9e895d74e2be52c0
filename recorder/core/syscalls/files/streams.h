// Writes to the run's standard output and error while other threads can run.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// True for a live write(2) to one of the streams; call.flags says which.
bool is_stream_write(const Call& call);
// Makes the write with the baton. Gives the baton away while the stream's reader has left no room.
long write_to_stream(Call& call);

// True if a live sendfile or splice to one of the streams can be made as a read and a write. The replay then repeats
// the write. It could not repeat a copy by the kernel, whose data is never in memory.
bool can_be_copied(const Call& call);
// Makes and logs the call; afterwards the data written is in the thread's scratch memory, in a replay too.
long copy_to_stream(Call& call);

}  // namespace reweave::core
