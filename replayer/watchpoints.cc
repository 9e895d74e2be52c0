#include "replayer/watchpoints.h"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace reweave {

namespace {

volatile int watched;

[[noreturn]] void write_when_told() {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) raise(SIGSTOP);
  watched = 1;
  _exit(0);
}

bool watch(pid_t child) {
  constexpr std::uint64_t kFirst = 1, kOnWrite = 1 << 16, kFourBytes = 3 << 18;  // of DR7
  const auto set = [&](std::size_t number, std::uint64_t value) {
    const std::size_t offset = offsetof(struct user, u_debugreg) + number * sizeof(long);
    return ptrace(PTRACE_POKEUSER, child, offset, value) == 0;
  };
  return set(0, reinterpret_cast<std::uint64_t>(&watched)) && set(7, kFirst | kOnWrite | kFourBytes);
}

}  // namespace

bool hardware_watchpoints_work() {
  const pid_t child = fork();
  if (child == 0) write_when_told();
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return true;
  const bool set = watch(child) && ptrace(PTRACE_CONT, child, nullptr, nullptr) == 0;
  const bool reported = set && waitpid(child, &status, 0) == child && WIFSTOPPED(status);
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  return reported;
}

}  // namespace reweave
