// The path of a system call: it enters here, by the kernel's SIGSYS or from a patched call, and returns from here. Its
// row (syscalls/table.h) says what it does; syscalls/call.h logs it.
#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/base/debugger_call.h"
#include "recorder/core/base/entry_points.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/guarded_call.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/code/sleds.h"
#include "recorder/core/explored/files/own_descriptors.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/processor/clock_reads.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/protection_keys.h"
#include "recorder/core/signals/restarts.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/debugger_calls.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/files/file_changes.h"
#include "recorder/core/syscalls/kernel_steps.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/seccomp/seccomp.h"
#include "recorder/core/syscalls/table.h"

#pragma GCC visibility push(hidden)
extern "C" void core_note_leave();  // entry.S
#pragma GCC visibility pop

namespace reweave::core {

namespace {

// Answers a kRefused or kDenied call; stops the run at a kUnsupported one.
long refuse(Call& call) {
  if (call.row->kind == CallKind::kRefused) return complete(call, -ENOSYS);
  if (call.row->kind == CallKind::kDenied) return complete(call, -EPERM);
  Text text;
  text << "system call " << call.row->name << " (number " << static_cast<int>(call.number)
       << ") cannot be recorded: " << call.row->why << "; it is row " << static_cast<int>(call.number)
       << " of recorder/core/syscalls/rows.inc";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

// Carries out the call according to its row.
long handle(Call& call) {
  if (call.row->kind == CallKind::kAsked && !live()) return answered_call(call);
  return call.row->handler != nullptr ? call.row->handler(call) : recorded_call(call);
}

long run(Call& call) {
  PendingOp op = {};
  op.kind = OpKind::kSyscall;
  op.pc = call.context.registers.rip;
  op.detail = static_cast<std::uint32_t>(call.number);
  if (modelled() && is_file_operation(call)) {
    op.kind = OpKind::kSemaphore;
    op.object = file_object();
    op.detail = static_cast<std::uint32_t>(SemaphoreUse::kDescriptors);
    op.is_write = 1;
  }
  const CallKind kind = call.row->kind;
  kind == CallKind::kYield ? yield_point(op) : schedule_point(op);
  long answer = 0;
  if (call.me.seccomp != 0 && filter_call(call, answer) == Verdict::kAnswered) return answer;
  if (kind == CallKind::kYield) return complete(call, 0);
  if (kind == CallKind::kUnsupported || kind == CallKind::kRefused || kind == CallKind::kDenied) return refuse(call);
  if (!tracing()) return handle(call);
  trace_gifts(call);
  trace_call(call.context, call.number);  // the last event of a thread, if the call ends it
  const long result = handle(call);
  if (process().alive != 0) trace_receipts(call, result);
  return result;
}

long run_body(void* call) { return run(*static_cast<Call*>(call)); }
long run_plain(void* call) { return recorded_call(*static_cast<Call*>(call)); }

long guarded(long (*body)(void*), Call& call) {
  const long result = core_guarded(body, &call, &call.me.call_frame);
  if (result == -EFAULT) take_back_baton();  // the fault may have come while the baton was lent
  return result;
}

// Asks the kernel for the answer to a call whose arguments the core could not read.
long ask_kernel(Call& call) {
  memcpy(call.args, call.logged, sizeof call.args);
  return guarded(run_plain, call);
}

// Carries out the call; if it refers to inaccessible memory it fails with EFAULT, as in the kernel.
long run_guarded(Call& call) {
  long result = guarded(run_body, call);
  const bool may_ask = result == -EFAULT && !call.completed && (call.row->flags & kAsksKernel) != 0;
  if (may_ask && !call.made) result = ask_kernel(call);
  const bool abandoned = result == -EFAULT && !call.completed;
  self().call_frame = 0;  // not call.me, because the call may have been a fork
  if (!abandoned) return result;
  return complete(call, result);
}

// The end of a handler unblocks signals, which are delivered before the program continues. It is a schedule point,
// because such a delivery needs a number of its own. False: the process dies.
bool end_handler(KernelContext& context) {
  PendingOp op = {};
  op.kind = OpKind::kSyscall;
  op.pc = context.registers.rip;
  op.detail = SYS_rt_sigreturn;
  schedule_point(op);
  if (!return_from_handler(context)) return false;
  apply_signal_mask(self());
  arm();
  return true;
}

// The call that `context` is about to make.
Call call_of(KernelContext& context, long number) {
  const auto& r = context.registers;
  auto argument = [](std::uint64_t word) { return static_cast<long>(word); };
  Call call = {context,
               self(),
               find_row(number),
               number,
               {},
               {argument(r.rdi), argument(r.rsi), argument(r.rdx), argument(r.r10), argument(r.r8), argument(r.r9)}};
  for (unsigned ints = call.row->ints; ints != 0; ints &= ints - 1) {
    long& narrow = call.logged[__builtin_ctz(ints)];
    narrow = static_cast<std::int32_t>(narrow);
  }
  copy_words(call.args, call.logged);
  return call;
}

// True if the thread's own filters forbid its return from a handler; then `context` has the answer.
bool refuses_return(KernelContext& context) {
  if (self().seccomp == 0) return false;
  Call call = call_of(context, SYS_rt_sigreturn);
  long answer = 0;
  if (filter_call(call, answer) == Verdict::kAllow) return false;
  if (answer == kNotStarted)
    make_again(context, SYS_rt_sigreturn);
  else
    context.registers.rax = static_cast<std::uint64_t>(answer);
  return true;
}

void return_and_deliver(KernelContext& context) {
  const bool continues = refuses_return(context) ? process().alive != 0 : end_handler(context);
  if (modelled()) release_pending_signals();
  if (continues) deliver_signals(context, false, SYS_rt_sigreturn);
}

// Carries out the call that `context` is about to make, and changes `context` to the state after it.
long carry_out(KernelContext& context, long number) {
  auto& r = context.registers;
  if (read_clock(context, number)) {
    if (state().stand_in_changes != 0) follow_file_changes();
    return 0;
  }
  arm_new_sleds();
  Call call = call_of(context, number);
  const long result = run_guarded(call);
  if (state().stand_in_changes != 0) follow_file_changes();
  if (result == kNotStarted)
    make_again(context, number);
  else
    r.rax = static_cast<std::uint64_t>(result);
  if (process().alive != 0) arm();
  return result;
}

// Pseudo system call of a patched call's stub: the call was carried out, and the rest needs the signal frame.
constexpr long kFinishCall = 0x5260;

// For a call that began in a stub: `context` becomes that of the call itself. True if it was carried out already.
bool resume_patched_call(KernelContext& context) {
  const PatchedCall& patched = self().patched_call;
  auto& r = context.registers;
  r.rcx = patched.after;
  r.rip = patched.ip;
  if (r.rax != static_cast<std::uint64_t>(kFinishCall)) return false;
  r.rax = patched.result;
  deliver_signals(context, patched.interrupted != 0, patched.number);
  return true;
}

// If a signal kept a traced thread's call from finishing or from starting, prepares to make it again.
void prepare_restart(KernelContext& context, long number, long result) {
  Tracee* tracee = process().alive != 0 ? tracee_of(self()) : nullptr;
  if (tracee == nullptr) return;
  if (result == kNotStarted)
    begin_call_again(context, *tracee, number);
  else if (result == -EINTR && signal_due(self()))
    begin_restart(context, *tracee, number);
}

// Ends a traced thread's handler, after which the kernel shows no call. False: the process dies.
bool end_traced_handler(KernelContext& context) {
  if (!end_handler(context)) return false;
  if (Tracee* tracee = tracee_of(self())) tracee->call = -1;
  return true;
}

// Lets the tracer decide about the call if the thread's filters say so. False: the call is not to be made.
bool pass_filters(KernelContext& context, long& number) {
  std::uint64_t message = 0;
  const bool asks = wants_event(self(), PTRACE_EVENT_SECCOMP) && filters_ask_tracer(context.registers, number, message);
  return !asks || stop_by_filter(context, number, message);
}

// If the call creates a process, the new process's thread also returns from here.
void on_traced_call(KernelContext& context, long number) {
  if (enter_traced_call(context, number) && pass_filters(context, number)) {
    if (number == SYS_rt_sigreturn) {
      if (!refuses_return(context) && !end_traced_handler(context)) return;
    } else {
      prepare_restart(context, number, carry_out(context, number));
    }
  }
  if (process().alive == 0) return;
  leave_traced_call(context);
  if (process().alive != 0) deliver_signals(context, false, number);
}

void on_sigsys(KernelContext& context) {
  auto& r = context.registers;
  const bool patched = is_trap(context);
  if (patched && resume_patched_call(context)) return;
  const long number = static_cast<int>(r.rax);  // the kernel uses only this part
  self().deliver_due = 0;
  if (number == kDeliverSignals) {
    r.rax = due_signal_restarts() ? 0 : 1;
    return deliver_signals(context, false, number);
  }
  if (self().tracee != 0) return on_traced_call(context, number);
  if (number == SYS_rt_sigreturn) return return_and_deliver(context);
  if (!patched && (r.eflags & kTrapFlag) == 0) note_call_site(r.rip, number);
  const long result = carry_out(context, number);
  if (process().alive != 0) deliver_signals(context, result == -EINTR, number);
}

}  // namespace

extern "C" void core_on_sigsys(int signal, void* info, void* raw_context) {
  constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH
  if (static_cast<const int*>(info)[2] != kUserDispatch) return core_on_asynchronous(signal, info, raw_context);
  constexpr std::uint32_t kArch64 = 0xc000003e;  // AUDIT_ARCH_X86_64
  if (static_cast<const std::uint32_t*>(info)[7] != kArch64)
    stop_run(wire::OutcomeKind::kUnsupported,
             "a system call of the 32-bit kind (int $0x80) cannot be recorded; build the program for x86-64");
  auto& context = *static_cast<KernelContext*>(raw_context);
  allow_unaligned(context);
  take_rights_of(context);
  if (called_by_debugger()) {
    context.registers.rax = static_cast<std::uint64_t>(call_for_debugger(context.registers));
    return;
  }
  suspend_stepping(context);
  on_sigsys(context);
  context.registers.rip = landing(context.registers.rip);
  resume_stepping(context);
  core_note_leave();
}

extern "C" std::uint64_t core_on_patched_call(KernelContext& context, std::uint64_t resume) {
  allow_unaligned(context);
  auto& r = context.registers;
  Thread& me = self();
  const long number = static_cast<int>(r.rax);  // the kernel uses only this part
  const std::uint64_t mask = me.signal_mask;
  me.deliver_due = 0;
  me.patched_call = {r.rip, r.rip, 0, number, 0};
  const bool needs_frame = (find_row(number)->flags & kNeedsFrame) != 0 || me.seccomp != 0 || me.tracee != 0;
  if (number == SYS_rt_sigreturn || number == kDeliverSignals || needs_frame) return trap_address();
  const long result = carry_out(context, number);
  const bool signals = live() ? me.queued.load() != 0 || me.held != 0 : signal_due(me);
  // In an explored run the kernel's mask does not matter.
  const bool same_mask = me.has_saved_mask == 0 && (modelled() || me.signal_mask == mask);
  const bool done = result != kNotStarted && !signals && same_mask;
  if (done) return resume;
  me.patched_call = {me.patched_call.after, r.rip, r.rax, number, result == -EINTR ? 1u : 0u};
  r.rax = static_cast<std::uint64_t>(kFinishCall);
  return trap_address();
}

}  // namespace reweave::core
