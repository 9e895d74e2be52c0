#include "recorder/core/syscalls/traced_status.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/fatal.h"
#include "recorder/core/process.h"
#include "recorder/core/tracing.h"

namespace reweave::core {

namespace {

// The number that `path` begins with, which becomes what follows; -1: none.
long take_number(const char*& path) {
  if (*path < '0' || *path > '9') return -1;
  long number = 0;
  while (*path >= '0' && *path <= '9') number = number * 10 + (*path++ - '0');
  return number;
}

bool take(const char*& path, const char* word) {
  if (!starts_with(path, word)) return false;
  path += string_length(word);
  return true;
}

// Whose status it is; null: the path names something else, or a thread that is not traced.
const Tracee* tracee_named(const char* path) {
  if (state().tracing_began == 0 || !take(path, "/proc/")) return nullptr;
  long tid = 0;
  if (take(path, "thread-self/"))
    tid = self().tid;
  else if (take(path, "self/"))
    tid = process().pid;
  else if ((tid = take_number(path)) < 0 || !take(path, "/"))
    return nullptr;
  if (take(path, "task/") && ((tid = take_number(path)) < 0 || !take(path, "/"))) return nullptr;
  const Thread* thread = string_equal(path, "status") ? thread_by_tid(tid) : nullptr;
  return thread == nullptr ? nullptr : tracee_of(*thread);
}

// One line of the file as the target is to see it.
void write_line(long to, const char* line, std::size_t length, const Tracee& tracee) {
  Text changed;
  if (starts_with(line, "TracerPid:")) {
    changed << "TracerPid:\t" << static_cast<int>(thread_of(tracee.tracer).tid) << "\n";
  } else if (starts_with(line, "State:") && tracee.stop != StopKind::kNone) {
    changed << "State:\tt (tracing stop)\n";
  } else {
    sys(SYS_write, to, line, length);
    return;
  }
  sys(SYS_write, to, changed.c_str(), string_length(changed.c_str()));
}

}  // namespace

bool is_traced_status(const char* path) { return tracee_named(path) != nullptr; }

long open_traced_status(const char* path, long flags) {
  const long from = sys(SYS_open, path, O_RDONLY | O_CLOEXEC);
  if (is_error(from)) return from;
  static char text[8192];
  std::size_t bytes = 0;
  for (long n = 1; n > 0 && bytes + 1 < sizeof text; bytes += n > 0 ? static_cast<std::size_t>(n) : 0)
    n = sys(SYS_read, from, text + bytes, sizeof text - 1 - bytes);
  text[bytes] = 0;
  sys(SYS_close, from);
  const long to = sys(SYS_memfd_create, "status", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (is_error(to)) return to;
  for (const char* line = text; *line != 0;) {
    const char* end = line;
    while (*end != 0 && *end != '\n') end++;
    if (*end == '\n') end++;
    write_line(to, line, static_cast<std::size_t>(end - line), *tracee_named(path));
    line = end;
  }
  sys(SYS_lseek, to, 0, SEEK_SET);
  return to;
}

}  // namespace reweave::core
