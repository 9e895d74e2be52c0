// The processes of an explored run: created by fork, vfork, clone and posix_spawn as in any run, each with real memory
// of its own, and scheduled like threads. Parents, exit statuses and waiting are modelled, because the kernel's answers
// come at instants that no schedule names.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Prepares the run to have several processes, or programs.
void become_tree();
// A process is to be created, with these CLONE_ flags and the place for its descriptor: 0, or the error.
long begin_modelled_process(const Call& call, std::uint64_t flags, std::uint64_t pidfd);
// The ID of a thread or process that `creator` has just created, which joins the run.
std::int32_t number_modelled(const Thread& creator, const Thread& child);
// A descriptor of the new process for its creator; negative: there is none.
long open_modelled_process(const Thread& made);
// A process ends with `wait_status`: closes its descriptors and notifies its parent.
void end_modelled_process(std::uint16_t index, std::int32_t wait_status);

}  // namespace reweave::core
