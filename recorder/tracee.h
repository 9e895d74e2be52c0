// Threads that other threads trace with ptrace(2), in the runtime state. The kernel is never asked to trace: the core
// implements stops, registers and options (recorder/core/ptrace/tracing.h).
//
// Thread rule: the baton holder only, except for std::atomic members.
#pragma once

#include <atomic>
#include <cstdint>

#include "formats/event.h"

namespace reweave {

// The place at which a tracee is stopped.
enum class StopKind : std::uint32_t {
  kNone = 0,  // it runs
  kSignal,    // before the delivery of a signal
  kGroup,     // a stop signal took effect; seized tracees also stop this way when interrupted and when they start
  kSyscallEntry,
  kSyscallExit,
  kEvent,  // PTRACE_EVENT_FORK and others
};

// The request that last resumed a tracee: PTRACE_CONT, PTRACE_SYSCALL, ...
enum class ResumeMode : std::uint32_t { kContinue = 0, kSyscall, kStep, kEmulate, kEmulateStep };

// Bits of Tracee::asked: why the tracee is to stop. They are pending like signals, and mean what the kernel's
// JOBCTL_TRAP_STOP, JOBCTL_STOP_PENDING and JOBCTL_TRAP_NOTIFY do (include/linux/sched/jobctl.h).
inline constexpr std::uint32_t kAskedStop = 1;       // SIGSTOP was sent, with Tracee::asked_info
inline constexpr std::uint32_t kAskedInterrupt = 2;  // PTRACE_INTERRUPT
inline constexpr std::uint32_t kAskedGroup = 4;      // a group-stop began (Process::group_stop)
inline constexpr std::uint32_t kAskedNotice = 8;     // seized: its process was sent SIGCONT
// The bits from here on: the signal of the group-stop in which its tracer found it. SIGCONT does not cancel that stop.
inline constexpr std::uint32_t kFoundShift = 8;

// Values of Tracee::in_use.
inline constexpr std::uint32_t kTraced = 1;
inline constexpr std::uint32_t kLetGo = 2;  // detached, but its thread has yet to take its registers from here

inline constexpr std::uint32_t kMaxTracees = 512;
inline constexpr std::uint32_t kUserRegisters = 27;          // words of struct user_regs_struct (sys/user.h)
inline constexpr std::uint32_t kMaxFpStateBytes = 16 << 10;  // size of a signal frame's floating-point state

struct Tracee {
  std::uint32_t in_use;  // 0, kTraced or kLetGo
  ThreadId thread;
  ThreadId tracer;
  std::uint16_t process, tracer_process;
  std::uint32_t seized;   // by PTRACE_SEIZE
  std::uint32_t options;  // PTRACE_O_*
  StopKind stop;
  ResumeMode mode;
  std::uint32_t code;       // of the stop: the bits above the low byte of the wait(2) status
  std::uint32_t reported;   // the tracer's wait has returned it
  std::uint32_t listening;  // 1: in a group-stop, resumed by PTRACE_LISTEN
  std::uint32_t dead;       // only `wait_status` remains, until the tracer takes it
  std::int32_t tid;
  std::int32_t wait_status;
  std::int32_t signal;     // with which it is resumed; 0: none
  std::uint32_t in_call;   // a system call is in progress
  std::int64_t call;       // its number, which the tracer may have set to -1; otherwise -1
  std::uint64_t message;   // PTRACE_GETEVENTMSG
  std::uint8_t info[128];  // siginfo_t of the stop
  std::uint64_t registers[kUserRegisters];
  std::uint64_t fp_bytes;
  alignas(64) std::uint8_t fp_state[kMaxFpStateBytes];
  std::atomic<std::uint32_t> asked;
  std::uint8_t asked_info[128];
  std::uint32_t may_stop;  // live: 1: no SIGCONT came since its last signal
};

}  // namespace reweave
