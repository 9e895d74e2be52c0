#include "recorder/core/syscalls/proc/proc_path.h"

#include "recorder/core/base/words.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"

namespace reweave::core {

ProcPath parse_proc_path(const char* path) {
  Words words = {path};
  if (path == nullptr || !words.take("/proc/")) return {0, nullptr};
  long id = 0;
  if (words.take("thread-self"))
    id = id_seen_from(namespace_of_proc(), self());
  else if (words.take("self"))
    id = id_seen_from(namespace_of_proc(), process());
  else
    id = words.number();
  if (words.take("/task/")) id = words.number();
  const bool sound = id != 0 && words.take("/");
  return {id, sound ? words.at : nullptr};
}

Thread* thread_of(const ProcPath& path) {
  return path.file == nullptr ? nullptr : thread_by_tid(path.id, namespace_of_proc());
}

const Process* process_of(const ProcPath& path) {
  if (path.file == nullptr) return nullptr;
  const Thread* thread = thread_of(path);
  return thread != nullptr ? &state().processes[thread->process] : process_by_pid(path.id, namespace_of_proc());
}

}  // namespace reweave::core
