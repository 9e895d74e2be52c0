// Writes to the run's standard output and error while others could run.
#pragma once

#include "recorder/core/dispatch.h"

namespace reweave::core {

// True for a live write(2) to one of the streams; call.flags says which.
bool is_stream_write(const Call& call);
// Makes it with the baton, which is given up while the stream's reader has left no room.
long write_to_stream(Call& call);

}  // namespace reweave::core
