// The processes of an explored run: made by fork, vfork, clone and posix_spawn as in any run, each with real memory of
// its own, and scheduled like threads. Who is whose child, what they end with and who waits for that is modelled: the
// kernel's own answers come at instants that no schedule names.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// The run gets ready to have several processes, or programs.
void become_tree();
// A process is to be made, with these CLONE_ flags and the place for a descriptor of it: 0, or the error.
long begin_modelled_process(const Call& call, std::uint64_t flags, std::uint64_t pidfd);
// The number of a thread or process that `creator` has just made, which is a part of the run from now on.
std::int32_t number_modelled(const Thread& creator, const Thread& child);
// A descriptor that names the process that was made, for its maker; negative: there can be none.
long open_modelled_process(const Thread& made);
// A process ends with `wait_status`: its descriptors are closed, its parent is told.
void end_modelled_process(std::uint16_t index, std::int32_t wait_status);

}  // namespace reweave::core
