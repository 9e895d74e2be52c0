// landlock_restrict_self. Afterwards the kernel checks the path of each file that is opened or executed, including
// Reweave's own files, which the program's rules do not name. A copy in memory has no path.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/own_files.h"

namespace reweave::core {

namespace {

long reopen(long fd) {
  Text link;
  link << "thread-self/fd/" << static_cast<int>(fd);
  return sys(SYS_openat, kProcFd, link.c_str(), O_RDONLY | O_CLOEXEC);
}

bool copy_contents(long from, long to) {
  struct stat status = {};
  std::int64_t offset = 0;
  if (is_error(sys(SYS_fstat, from, &status))) return false;
  while (offset < status.st_size)
    if (sys(SYS_sendfile, to, from, &offset, status.st_size - offset) <= 0) return false;
  return true;
}

long new_memory_file() {
  constexpr long kCloseOnExec = 1, kExecutable = 0x10;  // MFD_CLOEXEC; MFD_EXEC, which Linux before 6.3 does not know
  const long fd = sys(SYS_memfd_create, "reweave", kCloseOnExec | kExecutable);
  return fd == -EINVAL ? sys(SYS_memfd_create, "reweave", kCloseOnExec) : fd;
}

bool has_path(int fd) {
  struct stat status = {};
  return !is_error(sys(SYS_fstat, fd, &status)) && status.st_nlink != 0;
}

// Replaces the file open as `fd` by a copy, opened for reading only, because a file open for writing cannot be
// executed.
bool replace_by_copy(int fd) {
  const long file = reopen(fd), written = new_memory_file();
  bool done = !is_error(file) && !is_error(written) && copy_contents(file, written);
  const long copy = done ? reopen(written) : -1;
  if (!is_error(written)) sys(SYS_close, written);
  if (!is_error(file)) sys(SYS_close, file);
  done = !is_error(copy) && !is_error(sys(SYS_dup3, copy, fd, 0));
  if (!is_error(copy)) sys(SYS_close, copy);
  return done;
}

}  // namespace

long handle_restrict_self(Call& call) {
  if (!live()) return recorded_call(call);
  for (const OwnFile& file : own_files(config()).items)
    if (file.path[0] != 0 && has_path(file.fd) && !replace_by_copy(file.fd))
      stop_run(wire::OutcomeKind::kUnsupported,
               "the program restricts itself (Landlock), for which Reweave needs three free descriptors and executable "
               "files in memory (sysctl vm.memfd_noexec=0)");
  return recorded_call(call);
}

}  // namespace reweave::core
