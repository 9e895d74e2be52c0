// Signals caused by an instruction: the target's, or deliberate ones of the core, through which other folders handle
// the instruction.
#include <sys/syscall.h>

#include "recorder/core/base/debugger_call.h"
#include "recorder/core/base/entry_points.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/explored/fork_server.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/instant.h"
#include "recorder/core/preempt/loop_probe.h"
#include "recorder/core/preempt/preemption.h"
#include "recorder/core/preempt/recorded_preemption.h"
#include "recorder/core/processor/segment_bases.h"
#include "recorder/core/processor/tsc.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/forced_signals.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/protection_keys.h"
#include "recorder/core/signals/signal_effects.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/files/file_changes.h"

// Hidden: otherwise the compiler would access them through a GOT, which a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern char core_guarded_fault[];
extern char core_exec_stopped[];
void core_note_leave();
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

constexpr int kStepped = 2;   // TRAP_TRACE
constexpr int kNoReason = 1;  // TRAP_BRKPT, here of int1

// True if the core accessed memory on behalf of the target's system call, and the address is invalid.
bool bad_argument(int number, std::uint64_t address) {
  return (number == SIGSEGV || number == SIGBUS) && self().call_frame != 0 &&
         !(address >= kCoreBase && address < kOursEnd);
}

// Abandons the current call: core_guarded returns -EFAULT.
void fail_call(KernelContext& context) {
  context.registers.rsp = self().call_frame;
  context.registers.rip = reinterpret_cast<std::uint64_t>(core_guarded_fault);
}

// Replay: skips a debugger's breakpoint in the core of another process, whose memory this one shares.
bool pass_debugger_stop(const KernelRegisters& r) {
  constexpr std::uint8_t kInt3 = 0xcc;
  if (!replaying() || config().patch_calls != 0 || !in_core(r.rip - 1)) return false;
  return *reinterpret_cast<const std::uint8_t*>(r.rip - 1) == kInt3;
}

// Handles the core's own traps; false for any other fault, which ends a single-stepping in progress.
bool ours_by_design(int number, const void* info, KernelContext& context) {
  if (number == SIGTRAP && (on_breakpoint(context) || on_fork_site(context))) return true;
  if (number == SIGTRAP && static_cast<const int*>(info)[2] == kStepped && on_probe_step(context)) return true;
  const std::uint64_t address = static_cast<const std::uint64_t*>(info)[2];
  if (number == SIGSEGV && (on_probe_write(context, address) || on_breakpoint_write(context, address))) return true;
  abandon_step_over(context);
  abandon_probe(context);
  return false;
}

// Leaves a load of peek() that faulted.
bool leave_peek(int number, KernelContext& context) {
  std::uint64_t& fails = self().peek_fails;
  if (fails == 0 || (number != SIGSEGV && number != SIGBUS)) return false;
  context.registers.rip = fails;
  fails = 0;
  return true;
}

// Starts a traced image (entry.S, core_exec_stop).
void begin_image(KernelContext& context) {
  KernelRegisters& r = context.registers;
  const std::uint64_t stack = r.rdi, entry = r.rsi;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) general_register(r, i) = 0;
  constexpr std::uint64_t kInterruptsEnabled = 0x202;
  r.eflags = kInterruptsEnabled;
  r.rsp = stack;
  r.rip = entry;
  stop_after_exec(context);
  if (process().alive != 0) deliver_signals(context, false, SYS_execve);
  resume_stepping(context);
}

bool give_way_at_pause(KernelContext& context) {
  const std::uint64_t after = address_after_pause(context.registers.rip);
  if (after == 0) return false;
  context.registers.rip = after;
  give_way(context);
  return true;
}

// Called after an instruction was emulated for the target. If the target single-steps itself, that was a step.
void finish_own_step(KernelContext& context) {
  if ((context.registers.eflags & kTrapFlag) == 0) return;
  std::uint64_t info[16] = {SIGTRAP, kStepped, context.registers.rip};  // si_signo, si_code, si_addr
  arm();
  take_synchronous_signal(context, SIGTRAP, info, false);
}

// Replay: reports that this processor lacks a feature of the recording one.
void check_instruction(std::uint64_t ip) {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSignal)) return;
  Text text;
  text << "this processor lacks an instruction that the recorded program executed, at ";
  text.hex(ip) << "; replay on a processor like the one used for recording, or record with --processor=x86-64-v3";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

bool is_int1(std::uint64_t address) {
  constexpr std::uint8_t kInt1 = 0xf1;
  return bytes_there(address, 1) == 1 && *reinterpret_cast<const std::uint8_t*>(address) == kInt1;
}

// Some virtual machines now and then deliver a step without its mark in DR6. Linux then takes it for the instruction
// int1, and gives the signal its code. When int1 traps, the instruction pointer is after it; on some machines it is at
// int1.
void mend_step(void* info, const KernelContext& context) {
  int& code = static_cast<int*>(info)[2];
  if (code != kNoReason || (context.registers.eflags & kTrapFlag) == 0) return;
  if (!is_int1(context.registers.rip - 1) && !is_int1(context.registers.rip)) code = kStepped;
}

}  // namespace

// Caused by an instruction of the target, or of the core, which is a bug.
extern "C" void core_on_fault(int number, void* info, void* raw_context) {
  auto& context = *static_cast<KernelContext*>(raw_context);
  allow_unaligned(context);
  take_all_rights();
  if (in_core(context.registers.rip)) check_gs_base();
  if (number == SIGTRAP) mend_step(info, context);
  const int code = static_cast<int*>(info)[2];
  if (code <= 0) {  // sent by a process, not caused
    core_on_asynchronous(number, info, raw_context);
    return;
  }
  if (number == SIGTRAP && pass_debugger_stop(context.registers)) return;
  if (called_by_debugger())
    give_up_debugger_call("it raises a signal, such as SIGSEGV, or reads data that a replay takes from the recording");
  suspend_stepping(context);
  if (ours_by_design(number, info, context)) {
    resume_stepping(context);
    return core_note_leave();
  }
  if (!live() && number == SIGBUS && mend_mapping(static_cast<const std::uint64_t*>(info)[2]))
    return resume_stepping(context);
  if (leave_peek(number, context)) return resume_stepping(context);
  const bool is_privileged = (number == SIGSEGV && code == SI_KERNEL) || number == SIGILL;  // no address is given
  if (is_privileged && count_at_loop(context)) {
    resume_stepping(context);
    return core_note_leave();
  }
  leave_stub(context.registers);
  const std::uint64_t ip = context.registers.rip;
  if (ip == reinterpret_cast<std::uint64_t>(core_exec_stopped)) return begin_image(context);
  // The target steps itself or is stepped: continue until it has left the core.
  if (number == SIGTRAP && code == kStepped && (in_core(ip) || in_stub(ip))) return resume_stepping(context);
  if (in_core(ip)) {
    if (bad_argument(number, static_cast<std::uint64_t*>(info)[2])) return fail_call(context);
    Text text;
    text << "internal error: signal " << number << " in the core at ";
    text.hex(ip) << " for address ";
    text.hex(static_cast<std::uint64_t*>(info)[2]);
    stop_run(wire::OutcomeKind::kDiverged, text);
  }
  if (is_privileged &&
      (emulate_tsc(context) || emulate_trapped(context) || emulate_gs_base(context) || give_way_at_pause(context))) {
    is_stepping(self()) ? finish_step(context) : finish_own_step(context);
    resume_stepping(context);
    return core_note_leave();
  }
  if (number == SIGILL && replaying()) check_instruction(ip);
  arm();
  take_synchronous_signal(context, number, info, number != SIGTRAP);
  resume_stepping(context);
  core_note_leave();
}

}  // namespace reweave::core
