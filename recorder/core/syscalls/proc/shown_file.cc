#include "recorder/core/syscalls/proc/shown_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/open_own.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/proc/proc_path.h"

namespace reweave::core {

namespace {

class Copy {
 public:
  Copy(void (*edit)(ShownLine&, void*), void* context) : edit_(edit), context_(context) {}

  void take(const char* data, long bytes, long to) {
    for (long i = 0; i < bytes; i++) {
      if (line_.length + 1 < sizeof line_.text) line_.text[line_.length++] = data[i];
      if (data[i] == '\n') end_line(to);
    }
  }

 private:
  void end_line(long to) {
    line_.text[line_.length] = 0;
    edit_(line_, context_);
    if (line_.length != 0) sys(SYS_write, to, line_.text, line_.length);
    line_.length = 0;
  }

  void (*edit_)(ShownLine&, void*);
  void* context_;
  ShownLine line_ = {};
};

// Reads until `room` bytes are read or the file ends.
long read_full(long from, char* data, long room) {
  long bytes = 0;
  while (bytes < room) {
    const long n = sys(SYS_read, from, data + bytes, room - bytes);
    if (n <= 0) break;
    bytes += n;
  }
  return bytes;
}

// Programs check whether a file opened for reading is writable. Without a free descriptor, the copy remains writable.
void make_read_only(long fd, long flags) {
  Text path;
  path << "thread-self/fd/" << static_cast<int>(fd);
  const long reader = sys(SYS_openat, kProcFd, path.c_str(), O_RDONLY | (flags & O_NONBLOCK));
  if (is_error(reader)) return;
  sys(SYS_dup3, reader, fd, flags & O_CLOEXEC);
  sys(SYS_close, reader);
}

// The name of a copy, which its descriptor's link shows (memfd_create(2)): with the ID, because "self" may mean another
// process when the copy is refreshed.
void name_copy(const char* path, Text& name) {
  const ProcPath parts = parse_proc_path(path);
  name << "/proc/" << static_cast<int>(parts.id) << "/" << parts.file;
}

}  // namespace

void refresh_edited(long fd, const char* path, void (*edit)(ShownLine& line, void* context), void* context) {
  static char part[32 << 10];
  Text own;
  own << "thread-self/fd/" << static_cast<int>(fd);
  sys(SYS_fchmod, fd, S_IRUSR | S_IWUSR);
  const long to = open_own(kProcFd, own.c_str(), O_WRONLY | O_TRUNC);
  sys(SYS_fchmod, fd, S_IRUSR | S_IRGRP | S_IROTH);
  if (is_error(to)) return;
  // Fails if the process is gone: then the copy is empty.
  const long from = open_own(AT_FDCWD, path, O_RDONLY);
  Copy copy(edit, context);
  for (long bytes = 1; !is_error(from) && bytes > 0; copy.take(part, bytes, to))
    bytes = read_full(from, part, sizeof part);
  if (!is_error(from)) sys(SYS_close, from);
  sys(SYS_close, to);
}

long open_edited(const char* path, long flags, void (*edit)(ShownLine& line, void* context), void* context) {
  static char start[32 << 10];
  long from = sys(SYS_open, path, flags | O_CLOEXEC);
  if (is_error(from)) return from;
  Text name;
  name_copy(path, name);
  long bytes = read_full(from, start, sizeof start);
  // The program may have only one descriptor left, which suffices if the contents fit.
  if (bytes < static_cast<long>(sizeof start)) {
    sys(SYS_close, from);
    from = -1;
  }
  const long to = sys(SYS_memfd_create, name.c_str(), (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (!is_error(to)) {
    Copy copy(edit, context);
    for (copy.take(start, bytes, to); from >= 0 && bytes > 0; copy.take(start, bytes, to))
      bytes = read_full(from, start, sizeof start);
    sys(SYS_lseek, to, 0, SEEK_SET);
    sys(SYS_fchmod, to, S_IRUSR | S_IRGRP | S_IROTH);
    if ((flags & O_ACCMODE) == O_RDONLY) make_read_only(to, flags);
  }
  if (from >= 0) sys(SYS_close, from);
  return to;
}

}  // namespace reweave::core
