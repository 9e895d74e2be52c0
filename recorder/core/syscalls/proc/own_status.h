// /proc/PID/status of processes of the tree as it is natively: the signals that the program blocks, handles and has
// pending, not those of the core; the processors and seccomp filters that the program is told of.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The thread that the file `path` describes: /proc/N/status or /proc/N/task/N/status. Null: it is no such file, or not
// of a thread of the tree.
Thread* thread_of_status(const char* path);

// Recording: a descriptor of a copy of that file with what is told of `thread`, or an error.
long open_status(Thread& thread, const char* path, long flags);

// What a descriptor of open_status shows is from now on what is so now. Null: the thread is of the tree no more.
void refresh_status(long fd, Thread* thread, const char* path);

}  // namespace reweave::core
