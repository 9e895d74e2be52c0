// TracedProcess's steps by one instruction.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "replayer/live/traced_process.h"

namespace reweave {

namespace {

constexpr int kSteppedCode = 2, kSteppedCall = 1, kSteppedIntoHandler = SIGTRAP;  // si_code of SIGTRAP
constexpr int kMostSteps = 64;                                                    // to leave the runtime

}  // namespace

// True if the status shows that a thread resumed for a single step has made it.
bool TracedProcess::has_stepped(pid_t lwp, int status) {
  if (!WIFSTOPPED(status) || status >> 8 != SIGTRAP) return false;
  const int code = trap_code(lwp);
  return code == kSteppedCode || code == kSteppedCall || code == kSteppedIntoHandler;
}

// Lets a stopped thread continue, past a breakpoint that it has hit.
void TracedProcess::resume(pid_t lwp) {
  Lwp& state = lwps_.at(lwp);
  if (state.running || state.status) return;
  if (state.over != 0 && inserted_.count(state.over) != 0 && registers(lwp).rip == state.over) {
    const int status = step_alone(lwp);
    if (!WIFSTOPPED(status)) return gone(lwp, status);
    if (!has_stepped(lwp, status)) {
      lwps_.at(lwp).status = status;
      return;
    }
  }
  step_or_continue(lwp);
}

// Steps a thread over a breakpoint that gdb's scripts have in the runtime.
std::optional<Stop> TracedProcess::step_over_in_runtime(pid_t lwp) {
  const Lwp& state = lwps_.at(lwp);
  if (state.running || state.over == 0 || !in_runtime(state.over) || registers(lwp).rip != state.over) return {};
  const int status = step_alone(lwp);
  if (has_stepped(lwp, status)) return Stop{StopReason::kStepped, lwp, 0, 0};
  lwps_.at(lwp).status = status;
  return {};
}

// Executes one instruction, ignoring a breakpoint there. Returns the thread's status.
int TracedProcess::step_alone(pid_t lwp) {
  const user_regs_struct before = registers(lwp);
  const std::uint64_t at = before.rip;
  const bool lifted = inserted_.count(at) != 0;
  if (lifted) write_memory(pid_, at, &inserted_.at(at), 1);
  step_or_continue(lwp, true);
  int status = wait_for(lwp);
  // An earlier PTRACE_INTERRUPT is reported first.
  while (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP) {
    lwps_.at(lwp).stop_wanted = false;
    step_or_continue(lwp, true);
    status = wait_for(lwp);
  }
  if (WIFSTOPPED(status)) hide_trap_flag(lwp, before);
  if (lifted && WIFSTOPPED(status)) write_memory(pid_, at, &kInt3, 1);
  return status;
}

// The processor single-steps while the trap flag is set. The kernel hides this flag from the program, except where
// `syscall` copies it to r11 and `pushf` to the stack. This clears the two copies.
void TracedProcess::hide_trap_flag(pid_t lwp, const user_regs_struct& before) {
  constexpr std::uint64_t kTrap = 0x100;
  constexpr std::uint8_t kTrapInSecondByte = kTrap >> 8, kWide = 0x66, kPushf = 0x9c;
  constexpr std::uint8_t kSyscall[] = {0x0f, 0x05};
  if ((before.eflags & kTrap) != 0) return;
  std::uint8_t code[2] = {};
  if (!read(before.rip, code, sizeof code) && !read(before.rip, code, 1)) return;
  user_regs_struct values = registers(lwp);
  if (std::memcmp(code, kSyscall, sizeof code) == 0) {
    values.r11 &= ~kTrap;
    set_registers(lwp, values);
  } else if ((code[0] == kPushf || (code[0] == kWide && code[1] == kPushf)) && values.rsp < before.rsp) {
    std::uint8_t flags = 0;
    if (!read(values.rsp + 1, &flags, 1)) return;
    flags &= static_cast<std::uint8_t>(~kTrapInSecondByte);
    write(values.rsp + 1, &flags, 1);
  }
}

namespace {

// `syscall` and `pushf` show the program the flag with which the processor steps.
bool shows_trap_flag(long code) {
  constexpr std::uint64_t kSyscall = 0x050f, kPushf = 0x9c, kWidePushf = 0x9c66;
  const auto bytes = static_cast<std::uint64_t>(code);
  return (bytes & 0xffff) == kSyscall || (bytes & 0xff) == kPushf || (bytes & 0xffff) == kWidePushf;
}

std::uint64_t pc_of(pid_t lwp) {
  return static_cast<std::uint64_t>(ptrace(PTRACE_PEEKUSER, lwp, offsetof(user_regs_struct, rip), 0));
}

}  // namespace

void TracedProcess::step_while(pid_t lwp, const std::function<bool(std::uint64_t pc)>& visit) {
  const auto found = lwps_.find(lwp);
  if (found == lwps_.end()) return;
  Lwp& state = found->second;
  if (state.running || state.status || state.signal != 0) return;
  for (std::uint64_t at = pc_of(lwp); !in_runtime(at) && inserted_.count(at) == 0;) {
    errno = 0;
    const long code = ptrace(PTRACE_PEEKTEXT, lwp, at, 0);
    if (errno != 0 || shows_trap_flag(code)) return;
    step_or_continue(lwp, true);
    const int status = wait_for(lwp);
    if (!has_stepped(lwp, status)) {
      lwps_.at(lwp).status = status;
      return;
    }
    at = pc_of(lwp);
    if (in_runtime(at)) {
      note_exit(lwp);
      return;
    }
    if (!visit(at)) return;
  }
}

// Notes the return address of a call to a function of the runtime as an exit, because some functions just return.
void TracedProcess::note_exit(pid_t lwp) {
  const auto back = read_word<std::uint64_t>(pid_, registers(lwp).rsp);
  if (!in_runtime(back)) exits_.insert(back);
}

// Nothing if the thread is in the runtime and still has to return to the program.
std::optional<Stop> TracedProcess::step_once(pid_t lwp) {
  if (lwps_.count(lwp) == 0 || lwps_.at(lwp).running || in_runtime(registers(lwp).rip)) {
    stepping_ = lwp;
    return {};
  }
  for (;;) {
    std::optional<int> earlier;  // a status that was not examined yet
    std::swap(earlier, lwps_.at(lwp).status);
    const int status = earlier ? *earlier : step_alone(lwp);
    if (has_stepped(lwp, status)) {
      if (!in_runtime(registers(lwp).rip)) return Stop{StopReason::kStepped, lwp, 0, 0};
      stepping_ = lwp;
      note_exit(lwp);
      return {};
    }
    // If a signal is reported instead of the step, the next step enters its handler, or continues as if there had been
    // no signal.
    const bool signalled = WIFSTOPPED(status) && status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP;
    const bool watched = signalled && WSTOPSIG(status) == SIGSEGV && is_watched_fault(lwp);
    if (!signalled) stepping_ = lwp;
    std::optional<Stop> stop = look(lwp, status);
    if (stop || !signalled) return stop;
    if (watched) return Stop{StopReason::kStepped, lwp, 0, 0};
  }
}

// Steps into the program, from a place where the runtime returns to it.
std::optional<Stop> TracedProcess::step_out(pid_t lwp) {
  const auto landed = [&] {
    lwps_.at(lwp).over = registers(lwp).rip;  // landing counts as hitting a breakpoint there
    return Stop{StopReason::kStepped, lwp, 0, 0};
  };
  if (!in_runtime(registers(lwp).rip) && changed_in_runtime_ != lwp) return landed();
  for (int i = 0; i < kMostSteps; i++) {
    const int status = step_alone(lwp);
    if (!has_stepped(lwp, status)) {
      lwps_.at(lwp).status = status;
      return {};
    }
    if (in_runtime(registers(lwp).rip)) continue;
    if (changed_in_runtime_ == lwp) {
      changed_in_runtime_ = 0;
      return Stop{StopReason::kWatched, lwp, 0, changed_address_, true};
    }
    return landed();
  }
  return {};
}

}  // namespace reweave
