#include "recorder/supervisor/target/guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "formats/base/error.h"
#include "recorder/guard.h"
#include "recorder/supervisor/ring/unsaved.h"

namespace reweave {

namespace {

constexpr int kFirstOther = 3;  // after the standard streams

// Runs in a child between vfork and exec. Returns on failure.
void become_guard(int lifeline, int arena, const char* core, char** argv) {
  char* envp[] = {nullptr};
  // Copies both to other numbers first: if the supervisor was started without its standard streams, it may have got the
  // numbers kGuardLifeline and kGuardArena for these two descriptors.
  const int from[] = {fcntl(lifeline, F_DUPFD_CLOEXEC, kFirstOther), fcntl(arena, F_DUPFD_CLOEXEC, kFirstOther)};
  const bool placed =
      from[0] >= 0 && from[1] >= 0 && dup2(from[0], kGuardLifeline) >= 0 && dup2(from[1], kGuardArena) >= 0;
  if (placed) execve(core, argv, envp);
}

}  // namespace

bool kill_targets_of(const ArenaMemory& arena) {
  return kill_holders([](auto... arguments) { return syscall(arguments...); }, arena.fd()) > 0;
}

Guard::Guard(ArenaMemory& arena, const std::string& recording) {
  const char* core = arena.header().config.core_path;
  const std::string self = recording.empty() ? "" : std::filesystem::read_symlink("/proc/self/exe").string();
  const char* arguments[kGuardArguments + 1] = {kGuardName, self.c_str(), kSaveRestVerb, recording.c_str(), nullptr};
  if (recording.empty()) arguments[1] = nullptr;
  char** argv = const_cast<char**>(arguments);
  int ends[2];
  SYSCALL_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "making the guard's lifeline");
  prctl(PR_SET_CHILD_SUBREAPER, 0);  // the guard is then not a child to be waited for as part of the tree
  volatile int failed = 0;           // children's changes are visible here, because they share memory
  const pid_t middle = vfork();
  if (middle == 0) {
    const pid_t guard = vfork();
    if (guard == 0) become_guard(ends[0], arena.fd(), core, argv);
    if (guard <= 0) failed = errno;
    _exit(0);
  }
  close(ends[0]);
  lifeline_ = ends[1];
  SYSCALL_CHECK(middle, "starting the guard");
  waitpid(middle, nullptr, 0);
  errno = failed;
  SYSCALL_CHECK(failed == 0 ? 0 : -1, "starting the guard {}", core);
}

Guard::~Guard() {
  const ssize_t ignored = send(lifeline_, &kDismissed, 1, MSG_NOSIGNAL);  // it may have been killed
  static_cast<void>(ignored);
  close(lifeline_);
}

}  // namespace reweave
