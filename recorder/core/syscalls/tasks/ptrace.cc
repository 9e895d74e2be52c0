// ptrace(2), carried out by the core for tracers and tracees of the tree (recorder/core/ptrace/tracing.h). Requests
// that change a tracee are carried out in every mode; what requests return is recorded.
#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/ptrace/trace_registers.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/process_memory.h"
#include "recorder/core/syscalls/tasks/ptrace_requests.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

// ---- resuming ----

void resume(Tracee& tracee, ResumeMode mode, std::int32_t signal) {
  tracee.mode = mode;
  tracee.signal = signal;
  tracee.stop = StopKind::kNone;
  wake(WaitKind::kTracer, tracee.thread, 1);
}

// In a replay, the record of the death follows the call.
long kill(Call& call, Tracee& tracee) {
  complete(call, 0);
  if (!replaying()) kill_tracee(tracee);
  return 0;
}

long resume_in(Call& call, Tracee& tracee, ResumeMode mode) {
  const std::uint64_t signal = data_of(call);
  if (signal > kSignalCount) return complete(call, -EIO);
  const bool ends = tracee.code == (SIGTRAP | PTRACE_EVENT_EXIT << 8);  // and keeps its wait status
  if (signal == SIGKILL && !ends) return kill(call, tracee);
  resume(tracee, mode, ends ? 0 : static_cast<std::int32_t>(signal));
  return complete(call, 0);
}

long continue_tracee(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kContinue); }
long go_to_call(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kSyscall); }
long go_a_step(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kStep); }
long emulate_calls(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kEmulate); }
long emulate_a_step(Call& call, Tracee& tracee) { return resume_in(call, tracee, ResumeMode::kEmulateStep); }

long detach(Call& call, Tracee& tracee) {
  if (data_of(call) > kSignalCount) return complete(call, -EIO);
  tracee.signal = static_cast<std::int32_t>(data_of(call));
  tracee.mode = ResumeMode::kContinue;
  end_tracing(tracee);
  return complete(call, 0);
}

long interrupt(Call& call, Tracee& tracee) {
  if (tracee.seized == 0) return complete(call, -EIO);
  tracee.listening != 0 ? restart_group_stop(tracee) : ask_to_stop(tracee, kAskedInterrupt);
  return complete(call, 0);
}

long listen(Call& call, Tracee& tracee) {
  if (tracee.seized == 0 || tracee.stop != StopKind::kGroup) return complete(call, -EIO);
  tracee.listening = 1;
  if ((tracee.asked.load() & kAskedNotice) != 0) restart_group_stop(tracee);
  return complete(call, 0);
}

// ---- attaching ----

// True if the tracee would have two IDs: its own, and another one for its tracer.
bool is_apart(const Thread& one, const Thread& other) { return pid_namespace_of(one) != pid_namespace_of(other); }

long trace_me(Call& call) {
  Thread& me = call.me;
  Process& here = process();
  if (me.tracee != 0 || here.traced_outside != 0) return complete(call, -EPERM);
  Thread* creator = nullptr;
  RuntimeState& s = state();
  Process& parent = s.processes[here.parent];
  if (here.index != 0 && parent.alive != 0)
    for (Thread& thread : threads_of(s, parent))
      if (creator == nullptr || thread.id == here.creator) creator = &thread;
  if (creator == nullptr) {  // the tracer would be outside the tree: it does not learn of this
    here.traced_outside = 1;
    return complete(call, 0);
  }
  if (is_apart(me, *creator) || begin_tracing(me, *creator, false) == nullptr) return complete(call, -EPERM);
  follow_tracing();
  return complete(call, 0);
}

// Fails an attempt to trace a process that is outside the tree or does not exist.
long refuse_outsider(Call& call) {
  if (replaying()) return inject(call);
  const long found = sys(SYS_kill, call.args[1], 0);
  const long result = found == -ESRCH || call.args[1] <= 0 ? -ESRCH : -EPERM;
  log_call(call, result, nullptr, 0);
  return result;
}

// Live: true if the kernel would let the caller trace the thread (ptrace(2), access checks); reading its memory has the
// same check.
bool is_allowed(const Thread& target) {
  struct {
    std::uint64_t base, bytes;
  } word = {kCoreBase, 1}, to;
  std::uint8_t byte = 0;
  to = {reinterpret_cast<std::uint64_t>(&byte), 1};
  return sys(SYS_process_vm_readv, kernel_id(target), &to, 1, &word, 1, 0) != -EPERM;
}

long attach(Call& call) {
  const bool seizes = call.args[0] == PTRACE_SEIZE;
  const std::uint64_t options = seizes ? data_of(call) : 0;
  if (seizes && (address_of(call) != 0 || (options & ~kTraceOptions) != 0)) return complete(call, -EIO);
  Thread* target = thread_by_tid(call.args[1]);
  if (target == nullptr) return refuse_outsider(call);
  const bool is_traced_outside = state().processes[target->process].traced_outside != 0;
  if (target->process == call.me.process || target->tracee != 0 || is_traced_outside || is_apart(*target, call.me))
    return complete(call, -EPERM);
  if (has_failed(call)) return inject(call);
  if (live() && !is_allowed(*target)) return complete(call, -EPERM);
  Tracee* tracee = begin_tracing(*target, call.me, seizes);
  if (tracee == nullptr) return complete(call, -EPERM);
  tracee->options = static_cast<std::uint32_t>(options);
  if (live()) {
    const std::int32_t info[32] = {SIGSTOP, 0, 0x80 /* SI_KERNEL */};
    keep_stopped(*tracee);
    seizes ? kick(*target) : send_stop(*tracee, info);
    await_readiness(*tracee);
  }
  return complete(call, 0);
}

// ---- the table ----

enum class Needs : std::uint8_t { kStopped, kTracee };

struct Request {
  long number;
  int arguments;  // arguments of the call that are used
  Needs needs;
  long (*carry_out)(Call&, Tracee&);
};

constexpr Request kRequests[] = {
    {PTRACE_PEEKTEXT, 4, Needs::kStopped, requests::peek},
    {PTRACE_PEEKDATA, 4, Needs::kStopped, requests::peek},
    {PTRACE_PEEKUSR, 4, Needs::kStopped, requests::peek_user},
    {PTRACE_POKETEXT, 4, Needs::kStopped, requests::poke},
    {PTRACE_POKEDATA, 4, Needs::kStopped, requests::poke},
    {PTRACE_POKEUSR, 4, Needs::kStopped, requests::poke_user},
    {PTRACE_CONT, 4, Needs::kStopped, continue_tracee},
    {PTRACE_KILL, 2, Needs::kTracee, kill},
    {PTRACE_SINGLESTEP, 4, Needs::kStopped, go_a_step},
    {PTRACE_GETREGS, 4, Needs::kStopped, requests::get_registers},
    {PTRACE_SETREGS, 4, Needs::kStopped, requests::set_all_registers},
    {PTRACE_GETFPREGS, 4, Needs::kStopped, requests::get_fp_registers},
    {PTRACE_SETFPREGS, 4, Needs::kStopped, requests::set_fp_registers},
    {PTRACE_DETACH, 4, Needs::kStopped, detach},
    {PTRACE_SYSCALL, 4, Needs::kStopped, go_to_call},
    {PTRACE_SYSEMU, 4, Needs::kStopped, emulate_calls},
    {PTRACE_SYSEMU_SINGLESTEP, 4, Needs::kStopped, emulate_a_step},
    {PTRACE_SETOPTIONS, 4, Needs::kStopped, requests::set_options},
    {PTRACE_GETEVENTMSG, 4, Needs::kStopped, requests::get_event_message},
    {PTRACE_GETSIGINFO, 4, Needs::kStopped, requests::get_siginfo},
    {PTRACE_SETSIGINFO, 4, Needs::kStopped, requests::set_siginfo},
    {PTRACE_GETREGSET, 4, Needs::kStopped, requests::get_register_set},
    {PTRACE_SETREGSET, 4, Needs::kStopped, requests::set_register_set},
    {PTRACE_INTERRUPT, 2, Needs::kTracee, interrupt},
    {PTRACE_LISTEN, 2, Needs::kStopped, listen},
    {PTRACE_GETSIGMASK, 4, Needs::kStopped, requests::get_signal_mask},
    {PTRACE_SETSIGMASK, 4, Needs::kStopped, requests::set_signal_mask},
    {PTRACE_GET_SYSCALL_INFO, 4, Needs::kStopped, requests::get_syscall_info},
};

const Request* find_request(long number) {
  for (const Request& request : kRequests)
    if (request.number == number) return &request;
  return nullptr;
}

// The tracee of the calling thread with that ID; null if there is none.
Tracee* tracee_by_tid(const Thread& me, long tid) {
  for (Tracee& tracee : state().tracees) {
    if (tracee.in_use != kTraced || tracee.dead != 0 || tracee.tid != tid) continue;
    return tracee.tracer == me.id ? &tracee : nullptr;
  }
  return nullptr;
}

// True if requests find the tracee in a stop. SIGCONT ends PTRACE_LISTEN, and a replay does not know to whom it was
// sent.
bool stands(const Call& call, const Tracee& tracee) {
  long recorded = 0;
  if (next_result(call, recorded)) return recorded != -ESRCH;
  return tracee.stop != StopKind::kNone && tracee.listening == 0;
}

}  // namespace

long handle_ptrace(Call& call) {
  if (modelled())
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: explored runs cannot trace processes yet");
  const long number = call.args[0];
  if (number == PTRACE_TRACEME) {
    use_arguments(call, 1);
    return trace_me(call);
  }
  if (number == PTRACE_ATTACH || number == PTRACE_SEIZE) {
    use_arguments(call, number == PTRACE_SEIZE ? 4 : 2);
    return attach(call);
  }
  const Request* request = find_request(number);
  use_arguments(call, request != nullptr ? request->arguments : 2);
  Tracee* tracee = tracee_by_tid(call.me, call.args[1]);
  if (tracee == nullptr) return complete(call, -ESRCH);
  if (!stands(call, *tracee) && (request == nullptr || request->needs == Needs::kStopped))
    return complete(call, -ESRCH);
  return request == nullptr ? complete(call, -EIO) : request->carry_out(call, *tracee);
}

}  // namespace reweave::core
