#include "recorder/supervisor/guard.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "formats/error.h"

namespace reweave {

namespace {

constexpr char kDismissed = 'd';
constexpr int kQuietRounds = 3;

// The directory entries of getdents64(2).
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[];
};

// True if the process that the folder `name` of /proc is of has our arena where a target has it.
bool has_arena(int proc, const char* name, const struct stat& arena) {
  char path[64];
  if (std::snprintf(path, sizeof path, "%s/fd/%d", name, kArenaFd) >= static_cast<int>(sizeof path)) return false;
  struct stat found = {};
  return fstatat(proc, path, &found, 0) == 0 && found.st_dev == arena.st_dev && found.st_ino == arena.st_ino;
}

// Kills every process that has the arena: also those that were forked just now, and those that have said that they end
// but wait for the supervisor to take what they wrote. True if there was any.
bool kill_holders(int proc, const struct stat& arena) {
  alignas(Entry) char buffer[8192];
  bool any = false;
  if (lseek(proc, 0, SEEK_SET) != 0) return false;
  for (long bytes; (bytes = syscall(SYS_getdents64, proc, buffer, sizeof buffer)) > 0;)
    for (long at = 0; at < bytes; at += reinterpret_cast<const Entry*>(buffer + at)->bytes) {
      const char* name = reinterpret_cast<const Entry*>(buffer + at)->name;
      const pid_t pid = static_cast<pid_t>(std::strtol(name, nullptr, 10));
      if (pid > 1 && pid != getpid() && has_arena(proc, name, arena)) any = kill(pid, SIGKILL) == 0 || any;
    }
  return any;
}

// Where /proc cannot be read: the processes that have said that they are there.
bool kill_known(const RuntimeState& state) {
  bool any = false;
  for (std::uint32_t i = 0; i < std::min(state.process_count, kMaxProcesses); i++)
    if (state.processes[i].alive != 0 && state.processes[i].real_pid > 1)
      any = kill(state.processes[i].real_pid, SIGKILL) == 0 || any;
  return any;
}

// Waits for the other end of the lifeline to be used or closed. No call that allocates or locks.
[[noreturn]] void keep_watch(int lifeline, const RuntimeState& state, int arena) {
  setsid();
  const sched_param none = {};
  sched_setscheduler(0, SCHED_BATCH, &none);  // or the supervisor would stand back for it when it is dismissed
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  prctl(PR_SET_NAME, "reweave-guard");
  char message = 0;
  while (read(lifeline, &message, 1) < 0 && errno == EINTR) {
  }
  if (message == kDismissed) _exit(0);
  static constexpr char kText[] =
      "reweave: the supervisor was killed; the program is stopped, its recording is cut off\n";
  const ssize_t written = write(2, kText, sizeof kText - 1);
  struct stat identity = {};
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool scans = proc >= 0 && fstat(arena, &identity) == 0;
  // A process may be forking just now: look again until none is left.
  for (int quiet = 0; quiet < kQuietRounds;) {
    const bool any = scans ? kill_holders(proc, identity) : kill_known(state);
    quiet = any ? 0 : quiet + 1;
    usleep(10'000);
  }
  _exit(written < 0 ? 1 : 0);
}

}  // namespace

bool kill_targets_of(const ArenaMemory& arena) {
  struct stat identity = {};
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool any = proc >= 0 && fstat(arena.fd(), &identity) == 0 && kill_holders(proc, identity);
  if (proc >= 0) close(proc);
  return any;
}

Guard::Guard(ArenaMemory& arena) {
  int ends[2];
  SYSCALL_CHECK(pipe2(ends, O_CLOEXEC), "making the guard's pipe");
  prctl(PR_SET_CHILD_SUBREAPER, 0);  // so that the guard is nobody's child, and not waited for as one of the tree
  const pid_t middle = vfork();
  if (middle == 0) {
    close(ends[1]);
    if (syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0)  // fork, with no locks of the library's
      keep_watch(ends[0], arena.state(), arena.fd());
    _exit(0);
  }
  close(ends[0]);
  lifeline_ = ends[1];
  SYSCALL_CHECK(middle, "starting the guard");
  waitpid(middle, nullptr, 0);
}

Guard::~Guard() {
  const ssize_t ignored = write(lifeline_, &kDismissed, 1);
  static_cast<void>(ignored);
  close(lifeline_);
}

}  // namespace reweave
