// The target's seccomp filters, evaluated by the core: in the kernel they would apply to the core's own calls too
// (seccomp(2)).
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// The verdict of the calling thread's filters on a call.
enum class Verdict : std::uint8_t { kAllow, kAnswered };

// kAnswered: the call is not carried out, and `result` is its result.
Verdict filter_call(Call& call, long& result);

// True if the calling thread's filters leave the call made with `registers` to a tracer (SECCOMP_RET_TRACE), which
// receives `message`.
bool filters_ask_tracer(const KernelRegisters& registers, long number, std::uint64_t& message);

// Carries out prctl(PR_SET_SECCOMP) with its mode and program.
long set_seccomp(Call& call, long mode, long program);

// PR_GET_SECCOMP: 0, 1 (strict) or 2 (filter).
long seccomp_mode(const Thread& thread);

// Number of filters that a call of the thread passes through.
std::uint32_t seccomp_filters_of(const Thread& thread);

}  // namespace reweave::core
