// A checkpoint: a copy of a process with all of its threads, made while all but the caller wait for the baton.
//
// fork copies memory and the calling thread. The child makes each of the others anew with clone, on the stacks and with
// the thread-local memory that fork copied, where it sleeps on (schedule/roll_call.h). Ids that the program knows stay,
// for they are ours; the kernel's are new. The parent goes on undisturbed.
//
// Not copied is what the process shares with others: the arena above all, so who makes the copy gives it another before
// its threads are made.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// What a copy does: it becomes an explored run, or goes on replaying.
enum class CopyGoesOn { kExplored, kReplaying };
// The baton holder, replaying. Null if a copy would be exact, and its threads are where they can be copied; else why
// not, in a few words behind "because".
const char* prepare_checkpoint(CopyGoesOn how);

// In the child of a fork after that, in its own arena: makes the other threads of the process.
void make_threads_of_copy();

// The thread's last act, when the runtime has no use for it any more. In a copy the first of the kernel's threads
// stays, asleep, until its process ends: it is that of the former caller of fork, and debuggers would wait for a
// process whose first thread has ended.
[[noreturn]] void end_kernel_thread(long status);

}  // namespace reweave::core
