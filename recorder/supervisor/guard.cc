#include "recorder/supervisor/guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "formats/error.h"

namespace reweave {

namespace {

constexpr char kDismissed = 'd';

// True if some process of the tree may still be there.
bool kill_tree(const RuntimeState& state) {
  bool any = false;
  for (std::uint32_t i = 0; i < std::min(state.process_count, kMaxProcesses); i++)
    if (state.processes[i].alive != 0 && state.processes[i].real_pid > 1)
      any = kill(state.processes[i].real_pid, SIGKILL) == 0 || any;
  return any;
}

// Waits for the other end of the lifeline to be used or closed. Only async-signal-safe calls.
[[noreturn]] void keep_watch(int lifeline, const RuntimeState& state) {
  setsid();
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  prctl(PR_SET_NAME, "reweave-guard");
  char message = 0;
  while (read(lifeline, &message, 1) < 0 && errno == EINTR) {
  }
  if (message == kDismissed) _exit(0);
  static constexpr char kText[] =
      "reweave: the supervisor was killed; the program is stopped, its recording is cut off\n";
  const ssize_t written = write(2, kText, sizeof kText - 1);
  // A process may be forking just now: look again until none is left.
  for (int round = 0; round < 50 && kill_tree(state); round++) usleep(10'000);
  _exit(written < 0 ? 1 : 0);
}

}  // namespace

Guard::Guard(ArenaMemory& arena) {
  int ends[2];
  SYSCALL_CHECK(pipe2(ends, O_CLOEXEC), "making the guard's pipe");
  prctl(PR_SET_CHILD_SUBREAPER, 0);  // so that the guard is nobody's child, and not waited for as one of the tree
  const pid_t middle = fork();
  if (middle == 0) {
    close(ends[1]);
    if (fork() == 0) keep_watch(ends[0], arena.state());
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
