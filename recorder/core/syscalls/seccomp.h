// The target's own seccomp filters, evaluated by us: the kernel's would apply to the runtime's calls too (seccomp(2)).
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// What the calling thread's filters do to a call.
enum class Verdict : std::uint8_t { kAllow, kAnswered };

// kAnswered: the call is not carried out, and `result` is what dispatch goes on with.
Verdict filter_call(Call& call, long& result);

// True if the calling thread's filters leave the call that `registers` make to a tracer (SECCOMP_RET_TRACE), which
// gets `message`.
bool filters_ask_tracer(const KernelRegisters& registers, long number, std::uint64_t& message);

// prctl(PR_SET_SECCOMP): its mode and program.
long set_seccomp(Call& call, long mode, long program);

// PR_GET_SECCOMP: 0, 1 (strict) or 2 (filter).
long seccomp_mode(const Thread& thread);

// How many filters a call of the thread goes through.
std::uint32_t seccomp_filters_of(const Thread& thread);

}  // namespace reweave::core
