#include "recorder/core/image/exec_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/open_own.h"
#include "recorder/core/image/elf_headers.h"
#include "recorder/core/image/image.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/executed_files.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"

namespace reweave::core {

namespace {

// All descriptors are in use: true if exec closes enough of them to load the new image.
bool leaves_descriptors() {
  constexpr int kNeeded = 3;
  std::uint64_t limit[2] = {};
  sys(SYS_prlimit64, 0, 7 /* RLIMIT_NOFILE */, nullptr, limit);
  int closed = 0;
  for (std::uint64_t fd = 0; fd < limit[0] && closed < kNeeded; fd++) {
    const long flags = sys(SYS_fcntl, fd, F_GETFD);
    if (!is_error(flags) && (flags & FD_CLOEXEC) != 0) closed++;
  }
  return closed == kNeeded;
}

// 0, or the error that exec returns: a sandbox that the program entered may forbid it. With an invalid argument
// pointer, exec fails after it has opened the file. Linux before 6.8 reads the arguments first, and then this returns 0
// for any file.
long ask_kernel_to_execute(const char* path) {
  constexpr long kNowhere = 8;
  const long result = lent_call(SYS_execve, path, kNowhere, 0);
  return result == -EFAULT ? 0 : result;
}

// Checks what the file's name alone tells: 0, or the error that exec returns.
long check_without_opening(const char* path) {
  struct stat status = {};
  const long found = lent_call(SYS_stat, path, &status);
  if (is_error(found)) return found;
  if ((status.st_mode & S_IFMT) != S_IFREG) return -EACCES;
  return is_error(lent_call(SYS_access, path, 1 /* X_OK */)) ? -EACCES : ask_kernel_to_execute(path);
}

// Refuses a file that a recorded program serves: another thread of the tree would have to supply its pages while the
// executing thread has the baton.
long refuse_served() {
  constexpr char kText[] =
      "reweave: a program executes a file that a recorded program serves (FUSE), which is not supported; the call "
      "fails with EACCES: execute a copy elsewhere\n";
  sys(SYS_write, 2, kText, sizeof kText - 1);
  return -EACCES;
}

// Opens a program, script or interpreter; returns a descriptor, or the error that exec returns. Opening any other file
// might block.
long open_executable(const char* path) {
  long error = check_without_opening(path);
  if (error != 0) return error;
  lend_baton();
  const long fd = open_own(AT_FDCWD, path, O_RDONLY);
  take_back_baton();
  if (is_error(fd)) return fd;
  if (is_served(fd))
    error = refuse_served();
  else if (is_being_written(fd))
    error = -ETXTBSY;
  if (error == 0) return fd;
  lent_call(SYS_close, fd);
  return error;
}

// 0, or the error that exec returns because of the interpreter that an ELF program names.
long check_interpreter(const char* path, bool i386) {
  const long fd = open_executable(path[0] != 0 ? path : ".");  // the kernel takes an empty name for this folder
  if (fd == -EMFILE && leaves_descriptors()) return 0;
  if (is_error(fd)) return fd;
  const long error = check_elf_interpreter(fd, i386);
  sys(SYS_close, fd);
  return error;
}

long check_elf(long fd) {
  ElfProgram program;
  long error = read_elf_program(fd, program);
  if (error == 0 && program.has_interpreter) error = check_interpreter(program.interpreter, program.i386);
  if (error == 0 && program.i386)
    stop_run(wire::OutcomeKind::kUnsupported, "the program is not a 64-bit x86 program; build it for x86-64");
  return error;
}

}  // namespace

long check_executable(const char* path, bool closes) {
  HashBang line;
  for (int depth = 0;; depth++) {
    const long fd = open_executable(path);
    if (fd == -EMFILE && leaves_descriptors()) return 0;
    if (is_error(fd)) return fd;
    unsigned char head[256];
    const long bytes = lent_call(SYS_pread64, fd, head, sizeof head, 0);
    const bool script = bytes >= 2 && head[0] == '#' && head[1] == '!';
    const long error = bytes < 0 ? bytes : script ? 0 : check_elf(fd);
    lent_call(SYS_close, fd);
    if (!script) return error;
    if (!parse_hash_bang(head, bytes, line)) return -ENOEXEC;
    if (closes) return -ENOENT;
    if (depth == kMaxInterpreters) return -ELOOP;
    path = line.interpreter;
  }
}

namespace {

// The kernel's limit for arguments and environment together (execve(2)), a quarter of the stack limit, minus what the
// core adds.
std::uint64_t most_argument_bytes() {
  constexpr std::uint64_t kLeast = 128 << 10, kMost = 6 << 20, kOwn = 8 << 10;
  std::uint64_t limit[2] = {kMost * 4, 0};
  sys(SYS_prlimit64, 0, 3 /* RLIMIT_STACK */, nullptr, limit);
  const std::uint64_t quarter = limit[0] / 4 < kMost ? limit[0] / 4 : kMost;
  return (quarter > kLeast ? quarter : kLeast) - kOwn;
}

// Adds the sizes of the strings and of their pointers to `total`. False: a string is too long.
bool add_strings(char* const* list, std::uint64_t& total) {
  constexpr std::uint64_t kLongest = 128 << 10;
  for (; list != nullptr && *list != nullptr; list++) {
    const std::uint64_t bytes = string_length(*list) + 1;
    if (bytes > kLongest) return false;
    total += bytes + sizeof *list;
  }
  return true;
}

}  // namespace

long check_arguments(char* const* argv, char* const* envp) {
  std::uint64_t total = 0;
  return add_strings(argv, total) && add_strings(envp, total) && total <= most_argument_bytes() ? 0 : -E2BIG;
}

}  // namespace reweave::core
