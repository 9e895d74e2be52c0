// Threads that others trace with ptrace(2), as the runtime state has them. The kernel is never asked to trace: stops,
// registers and options are ours (recorder/core/ptrace/tracing.h).
//
// Thread rule: the baton holder only, except what is std::atomic.
#pragma once

#include <atomic>
#include <cstdint>

#include "formats/event.h"

namespace reweave {

// Where a tracee stands still.
enum class StopKind : std::uint32_t {
  kNone = 0,  // it runs
  kSignal,    // before the delivery of a signal
  kGroup,     // a stop signal took effect; seized tracees also stop so when interrupted, and where they begin
  kSyscallEntry,
  kSyscallExit,
  kEvent,  // PTRACE_EVENT_FORK and the like
};

// What a tracee was last resumed with: PTRACE_CONT, PTRACE_SYSCALL, ...
enum class ResumeMode : std::uint32_t { kContinue = 0, kSyscall, kStep, kEmulate, kEmulateStep };

// Bits of Tracee::asked.
inline constexpr std::uint32_t kAskedStop = 1;       // somebody sent SIGSTOP, which says Tracee::asked_info
inline constexpr std::uint32_t kAskedInterrupt = 2;  // PTRACE_INTERRUPT
inline constexpr std::uint32_t kAskedGroup = 4;      // another thread of its process took asked_signal, a stop signal

// Values of Tracee::in_use.
inline constexpr std::uint32_t kTraced = 1;
inline constexpr std::uint32_t kLetGo = 2;  // its thread has yet to take its registers from here

inline constexpr std::uint32_t kMaxTracees = 512;
inline constexpr std::uint32_t kUserRegisters = 27;          // words of struct user_regs_struct (sys/user.h)
inline constexpr std::uint32_t kMaxFpStateBytes = 16 << 10;  // of a signal frame's floating-point state

struct Tracee {
  std::uint32_t in_use;  // 0, kTraced or kLetGo
  ThreadId thread;
  ThreadId tracer;
  std::uint16_t process, tracer_process;
  std::uint32_t seized;   // by PTRACE_SEIZE
  std::uint32_t options;  // PTRACE_O_*
  StopKind stop;
  ResumeMode mode;
  std::uint32_t code;       // of the stop: what wait(2) has above the low byte
  std::uint32_t reported;   // the tracer's wait had it
  std::uint32_t listening;  // PTRACE_LISTEN
  std::uint32_t dead;       // only `wait_status` is left, for the tracer
  std::int32_t tid;
  std::int32_t wait_status;
  std::int32_t signal;     // what it is resumed with; 0: none
  std::uint32_t in_call;   // a system call is under way
  std::int64_t call;       // its number, which the tracer may have made -1; -1 otherwise
  std::uint64_t message;   // PTRACE_GETEVENTMSG
  std::uint8_t info[128];  // siginfo_t of the stop
  std::uint64_t registers[kUserRegisters];
  std::uint64_t fp_bytes;
  alignas(64) std::uint8_t fp_state[kMaxFpStateBytes];
  std::atomic<std::uint32_t> asked;
  std::uint8_t asked_info[128];
  std::int32_t asked_signal;
};

}  // namespace reweave
