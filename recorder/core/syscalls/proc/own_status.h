// /proc/PID/status of the tree's processes as it is natively: the signals that the program, not the core, blocks,
// handles and has pending; the processors and seccomp filters that the program may see.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The thread that the file `path` describes: /proc/N/status or /proc/N/task/N/status. Null if it is another file or not
// of a thread of the tree.
Thread* thread_of_status(const char* path);

// Recording: a descriptor of a copy of that file, edited for `thread`, or an error.
long open_status(Thread& thread, const char* path, long flags);

// Updates what a descriptor of open_status shows. Null: the thread no longer belongs to the tree.
void refresh_status(long fd, Thread* thread, const char* path);

}  // namespace reweave::core
