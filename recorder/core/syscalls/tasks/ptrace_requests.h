// Requests of ptrace(2) that read or write what a tracee is while it stands still. The tracer is the caller; each logs,
// checks or answers the call, and returns its result.
#pragma once

#include <linux/ptrace.h>

#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Of PTRACE_SETOPTIONS, those that there are.
inline constexpr std::uint64_t kTraceOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                               PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE |
                                               PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;

// The arguments of ptrace(2) that have these names there.
inline std::uint64_t address_of(const Call& call) { return static_cast<std::uint64_t>(call.args[2]); }
inline std::uint64_t data_of(const Call& call) { return static_cast<std::uint64_t>(call.args[3]); }

}  // namespace reweave::core

namespace reweave::core::requests {

// A word of memory, and of `struct user` (sys/user.h).
long peek(Call& call, Tracee& tracee);
long poke(Call& call, Tracee& tracee);
long peek_user(Call& call, Tracee& tracee);
long poke_user(Call& call, Tracee& tracee);

// All registers of a kind.
long get_registers(Call& call, Tracee& tracee);
long set_all_registers(Call& call, Tracee& tracee);
long get_fp_registers(Call& call, Tracee& tracee);
long set_fp_registers(Call& call, Tracee& tracee);
long get_register_set(Call& call, Tracee& tracee);
long set_register_set(Call& call, Tracee& tracee);

// The signal that it stopped for, and what it blocks.
long get_siginfo(Call& call, Tracee& tracee);
long set_siginfo(Call& call, Tracee& tracee);
long get_signal_mask(Call& call, Tracee& tracee);
long set_signal_mask(Call& call, Tracee& tracee);

// What stops are about.
long set_options(Call& call, Tracee& tracee);
long get_event_message(Call& call, Tracee& tracee);
long get_syscall_info(Call& call, Tracee& tracee);

}  // namespace reweave::core::requests
