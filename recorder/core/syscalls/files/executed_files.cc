#include "recorder/core/syscalls/files/executed_files.h"
#include "recorder/alive_processes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/image/image.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/open_flags.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

const char* string_at(long address) { return reinterpret_cast<const char*>(address); }

// True if it is the file of a program that a process of the tree executes. The kernel only knows that they execute the
// core.
bool is_executed(long folder, const char* path) {
  struct stat status = {};
  if (const char* program = path == nullptr ? nullptr : program_behind(path)) path = program;
  if (is_error(lent_call(SYS_newfstatat, folder, path, &status, 0))) return false;
  return find_alive(state(), [&](const Process& other) {
           return other.program_inode == status.st_ino && other.program_device == status.st_dev;
         }) != nullptr;
}

}  // namespace

bool is_being_written(long fd) { return sys(SYS_fcntl, fd, 1024 /* F_SETLEASE */, F_RDLCK) == -EAGAIN; }

bool opens_executed(const Call& call, int slot) {
  if (!live()) return false;
  const long flags = open_flags(call);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  if (!writes || (flags & (O_PATH | O_DIRECTORY)) != 0) return false;
  return is_executed(slot == 0 ? AT_FDCWD : call.args[0], string_at(call.args[slot]));
}

long text_busy(Call& call) { return complete(call, -ETXTBSY); }

// creat, truncate
long handle_overwrite(Call& call) {
  return live() && is_executed(AT_FDCWD, string_at(call.args[0])) ? text_busy(call) : recorded_call(call);
}

}  // namespace reweave::core
