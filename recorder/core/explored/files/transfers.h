// Reads from and writes to objects of the run's own (channels.h).
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// False: the call does not read, write or shut down.
bool transfer(Call& call, ChannelFile& file, long& result);
// Waits, if the call may wait, until the file can be read, or written to: 0, or the error.
long wait_for_channel(ChannelFile& file, bool writes, bool waits);
// Ends the run if the call passes a descriptor of an object of the run's own to the outside.
void refuse_passed_channels(const Call& call);

}  // namespace reweave::core
