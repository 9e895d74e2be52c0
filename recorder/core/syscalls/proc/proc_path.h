// Paths of processes' files in /proc (proc(5)).
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// /proc/PID/FILE or /proc/PID/task/TID/FILE, where PID may be "self" or "thread-self".
struct ProcPath {
  long id;           // of the thread, or of the process if no thread is named; as in /proc
  const char* file;  // the rest; null if it is no such path
};
ProcPath parse_proc_path(const char* path);

// The thread of the tree that the path refers to, or null.
Thread* thread_of(const ProcPath& path);
// The process of the tree that it refers to, or null.
const Process* process_of(const ProcPath& path);

}  // namespace reweave::core
