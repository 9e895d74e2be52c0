#include "recorder/supervisor/process/init_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>

#include "formats/base/error.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

// The time that the guard of a killed recorder may take to kill the program and save its recording.
constexpr std::chrono::seconds kForGuard{20};

// Process 1 is not stopped, and its own faults are not passed on.
constexpr int kNotPassedOn[] = {SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// The signal received, or nothing after a second.
std::optional<siginfo_t> next_signal(const sigset_t& awaited) {
  const timespec second = {1, 0};
  siginfo_t info = {};
  if (sigtimedwait(&awaited, &info, &second) < 0) return {};
  return info;
}

// The child has received signals from the keyboard too; a hangup goes only to the session leader.
bool is_for_child(const siginfo_t& info) {
  return info.si_signo != SIGCHLD && (info.si_code != SI_KERNEL || info.si_signo == SIGHUP);
}

// Reaps ended children. False if none are left. Sets `status` if `child` was among them.
bool reap(pid_t child, std::optional<int>& status) {
  for (;;) {
    int ended_with = 0;
    const pid_t ended = waitpid(-1, &ended_with, WNOHANG);
    if (ended == child) status = ended_with;
    if (ended <= 0) return ended == 0;
  }
}

[[noreturn]] void serve(pid_t child, const sigset_t& awaited) {
  std::optional<int> status;
  std::optional<Clock::time_point> deadline;
  for (;;) {
    const bool any_left = reap(child, status);
    if (status && WIFEXITED(*status)) _exit(WEXITSTATUS(*status));
    if (status && !deadline) deadline = Clock::now() + kForGuard;
    if (status && (!any_left || Clock::now() > *deadline)) _exit(128 + WTERMSIG(*status));
    const auto info = next_signal(awaited);
    if (info && is_for_child(*info) && !status) kill(child, info->si_signo);
  }
}

}  // namespace

void leave_process_one() {
  if (getpid() != 1) return;
  sigset_t awaited, before;
  sigfillset(&awaited);
  for (int number : kNotPassedOn) sigdelset(&awaited, number);
  sigaddset(&awaited, SIGCHLD);
  SYSCALL_CHECK(sigprocmask(SIG_BLOCK, &awaited, &before));
  const pid_t child = SYSCALL_CHECK(fork(), "starting a child of process 1");
  if (child != 0) serve(child, awaited);
  SYSCALL_CHECK(sigprocmask(SIG_SETMASK, &before, nullptr));
}

}  // namespace reweave
