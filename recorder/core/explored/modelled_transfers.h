// Reading from and writing to what the run has to itself (channels.h).
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// False: not a call that reads, writes or shuts down.
bool transfer(Call& call, ChannelFile& file, long& result);
// Waits until the file can be read, or written to, if the call may wait: 0, or the error.
long wait_for_channel(ChannelFile& file, bool writes, bool waits);
// Ends the run if the call sends, to outside, a descriptor that leads to what the run has to itself.
void refuse_passed_channels(const Call& call);

}  // namespace reweave::core
