// Requests of ptrace(2) that read or write the state of a stopped tracee. The caller is the tracer. Each function logs,
// checks or answers the call, and returns its result.
#pragma once

#include <linux/ptrace.h>

#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// The options of PTRACE_SETOPTIONS that exist.
inline constexpr std::uint64_t kTraceOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                               PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE |
                                               PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;

// The arguments of ptrace(2) with these names.
inline std::uint64_t address_of(const Call& call) { return static_cast<std::uint64_t>(call.args[2]); }
inline std::uint64_t data_of(const Call& call) { return static_cast<std::uint64_t>(call.args[3]); }

}  // namespace reweave::core

namespace reweave::core::requests {

// A word of memory or of `struct user` (sys/user.h).
long peek(Call& call, Tracee& tracee);
long poke(Call& call, Tracee& tracee);
long peek_user(Call& call, Tracee& tracee);
long poke_user(Call& call, Tracee& tracee);

// All registers of a set.
long get_registers(Call& call, Tracee& tracee);
long set_all_registers(Call& call, Tracee& tracee);
long get_fp_registers(Call& call, Tracee& tracee);
long set_fp_registers(Call& call, Tracee& tracee);
long get_register_set(Call& call, Tracee& tracee);
long set_register_set(Call& call, Tracee& tracee);

// The signal for which the tracee stopped, and its signal mask.
long get_siginfo(Call& call, Tracee& tracee);
long set_siginfo(Call& call, Tracee& tracee);
long get_signal_mask(Call& call, Tracee& tracee);
long set_signal_mask(Call& call, Tracee& tracee);

// Options, and details of a stop.
long set_options(Call& call, Tracee& tracee);
long get_event_message(Call& call, Tracee& tracee);
long get_syscall_info(Call& call, Tracee& tracee);

}  // namespace reweave::core::requests
