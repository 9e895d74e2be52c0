#include "replayer/live/traced_process.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "formats/base/error.h"

namespace reweave {

namespace {

constexpr int kOfKernel = 0x80;  // si_code of SIGTRAP

}  // namespace

int TracedProcess::trap_code(pid_t lwp) {
  siginfo_t info = {};
  ptrace(PTRACE_GETSIGINFO, lwp, 0, &info);
  return info.si_code;
}

void TracedProcess::step_or_continue(pid_t lwp, bool step) {
  Lwp& state = lwps_.at(lwp);
  state.over = 0;
  state.running = true;
  if (ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, lwp, 0, state.signal) != 0 && errno != ESRCH)
    throw SystemError(fmt::format("resuming the replayed process: {}", std::strerror(errno)), errno);
  state.signal = 0;
}

void TracedProcess::stop_all() {
  for (const pid_t lwp : lwps()) {
    Lwp& state = lwps_.at(lwp);
    if (!state.running) continue;
    if (!state.stop_wanted) ptrace(PTRACE_INTERRUPT, lwp, 0, 0);
    state.stop_wanted = true;
    const int status = wait_for(lwp);
    if (!WIFSTOPPED(status)) {
      gone(lwp, status);
      continue;
    }
    if (status >> 16 == PTRACE_EVENT_STOP) {
      state.stop_wanted = false;
    } else if (!rewind_breakpoint(lwp, status)) {
      state.status = status;
    }
  }
}

// If a thread has hit one of our breakpoints, moves the thread back before it, so that it hits the breakpoint again.
bool TracedProcess::rewind_breakpoint(pid_t lwp, int status) {
  if (status >> 8 != SIGTRAP || trap_code(lwp) != kOfKernel) return false;
  user_regs_struct values = registers(lwp);
  if (inserted_.count(values.rip - 1) == 0) return false;
  values.rip--;
  set_registers(lwp, values);
  return true;
}

Stop TracedProcess::run(const Resume& how, bool whole) {
  if (ended_) return *end_;
  stepping_ = 0;
  if (how.step || !quick_loops) put_traps();
  update_watches();
  std::optional<Stop> stop;
  if (how.step && lwps_.count(how.thread) != 0) stop = step_over_in_runtime(how.thread);
  for (auto& [lwp, state] : lwps_)
    if (!how.over) state.over = 0;
  if (how.thread != 0 && lwps_.count(how.thread) != 0) lwps_.at(how.thread).signal = how.signal;
  lands_ = how.lands;
  if (how.step && !stop) stop = step_once(how.thread);
  if (!stop) {
    update_breakpoints();
    for (const pid_t lwp : lwps())
      if (!stop && !ended_ && !lwps_.at(lwp).running && !lwps_.at(lwp).status && (!how.alone || lwp == how.thread))
        resume(lwp);
    while (!stop && !ended_) stop = wait_for_stop();
  }
  if (whole && !ended_) stop_all();
  if (stop && !ended_) leave_stub(stop->lwp);
  stepping_ = 0;
  lands_ = false;
  std::erase_if(exits_, [this](std::uint64_t address) { return !in_runtime(address); });
  return ended_ ? *end_ : *stop;
}

// Nothing if the caller must ask again.
std::optional<Stop> TracedProcess::wait_for_stop() {
  const auto next = next_status();
  if (!next) {
    if (poll && poll()) return Stop{StopReason::kInterrupted, 0, 0, 0};
    return {};
  }
  std::optional<Stop> stop = look(next->first, next->second);
  if (!stop && !ended_ && lwps_.count(next->first) != 0) resume(next->first);
  return stop;
}

std::optional<Stop> TracedProcess::look(pid_t lwp, int status) {
  if (!WIFSTOPPED(status)) {
    gone(lwp, status);
    return ended_ ? end_ : std::nullopt;
  }
  const int event = status >> 16;
  if (event == PTRACE_EVENT_STOP) {
    lwps_.at(lwp).stop_wanted = false;
    return {};
  }
  if (event == PTRACE_EVENT_EXEC) return on_exec(lwp);
  if (event != 0) return on_fork(lwp, event);
  return WSTOPSIG(status) == SIGTRAP ? look_at_trap(lwp) : look_at_signal(lwp, WSTOPSIG(status));
}

// True for the place where the runtime abandons a function called by gdb.
bool TracedProcess::gives_up_call(std::uint64_t address) const {
  constexpr std::uint64_t kMostBytes = 64;
  const auto found = symbols_.find("core_give_up_call");
  return found != symbols_.end() && address >= found->second && address < found->second + kMostBytes;
}

std::optional<Stop> TracedProcess::look_at_trap(pid_t lwp) {
  Lwp& state = lwps_.at(lwp);
  user_regs_struct values = registers(lwp);
  const std::uint64_t at = values.rip - 1;
  if (trap_code(lwp) != kOfKernel || inserted_.count(at) == 0) {
    if (gives_up_call(at)) return Stop{StopReason::kSignal, lwp, SIGTRAP, 0};
    state.signal = SIGTRAP;  // a trap of the runtime
    return {};
  }
  values.rip = at;
  set_registers(lwp, values);
  state.over = at;
  if (at == vforked_at_ && in_vfork_) {
    end_vfork(lwp);
    return {};
  }
  if (at == hold_at_ && stops_at_hold) return Stop{StopReason::kHeld, lwp, 0, 0};
  if (exits_.count(at) != 0 && (lands_ || stepping_ == lwp || changed_in_runtime_ == lwp)) return step_out(lwp);
  if (breakpoints.count(at) != 0) return Stop{StopReason::kBreakpoint, lwp, 0, at};
  return {};
}

std::optional<Stop> TracedProcess::look_at_signal(pid_t lwp, int signal) {
  if (signal == SIGSEGV && is_watched_fault(lwp)) {
    if (faults + 1 == stop_at_fault) return Stop{StopReason::kAboutToWrite, lwp, 0, 0};
    return pass_watched_fault(lwp);
  }
  if (signal == SIGSEGV && quick_loops && stepping_ == 0 && make_quick(registers(lwp).rip)) return {};
  // A function called by gdb returns to the stack, where no code may run.
  if (const std::uint64_t at = registers(lwp).rip; signal == SIGSEGV && breakpoints.count(at) != 0)
    return Stop{StopReason::kBreakpoint, lwp, 0, at};
  lwps_.at(lwp).signal = signal;
  if (passes_all_signals || passed_signals.count(signal) != 0) return {};
  lwps_.at(lwp).signal = 0;
  return Stop{StopReason::kSignal, lwp, signal, 0};
}

}  // namespace reweave
