// Frames of signal handlers on the target's stacks, laid out as the kernel's rt_sigframe
// (arch/x86/include/asm/sigframe.h) so that unwinders and siglongjmp work; and interrupted states on the core's stacks.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Changes `context` so that it enters the target's handler of `number`, which will return to the present `context`.
// False: the frame does not fit, and nothing has changed.
bool push_signal_frame(KernelContext& context, int number, const void* info);
// `context` becomes the state to which the target's handler returns. False: the frame is not in accessible memory, or
// its floating-point state is invalid; in the latter case the other registers are taken from the frame.
bool pop_signal_frame(KernelContext& context);

// True if `sp`, a stack pointer of the target, is on its alternate stack.
bool on_alternate_stack(const Thread& me, std::uint64_t sp);
void disable_alternate_stack(Thread& me);

// True if this processor lays out the floating-point state differently from the one that recorded, so that the program
// must be shown a converted state (fp_state.h).
bool is_laid_out_otherwise(const void* fp_state);
// Size of the state as shown to the program, and the state itself. Ends the run if it cannot be converted.
std::uint64_t shown_fp_bytes(const void* fp_state);
void show_fp_state(std::byte* to, const std::byte* fp_state);

// Resumes `context` and does not return, like the kernel's sigreturn. `context` must be on this thread's core stack.
[[noreturn]] void resume_context(KernelContext* context);

// Copies the interrupted state `from`, including its floating-point state, to the top of the core stack of `thread`.
KernelContext* copy_context(const KernelContext& from, const Thread& thread);

}  // namespace reweave::core
