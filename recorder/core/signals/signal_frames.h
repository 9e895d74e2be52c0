// Frames of signal handlers on the target's stacks, as the kernel makes its rt_sigframe
// (arch/x86/include/asm/sigframe.h), so that unwinders and siglongjmp work; and interrupted states on ours.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Changes `context` so that it enters the target's handler of `number`, which will return to what it was. False: there
// is no room for the frame, and nothing has changed.
bool push_signal_frame(KernelContext& context, int number, const void* info);
// `context` becomes what the target's handler returns to. False: where its frame should be is no memory, or there is
// no floating-point state where it says; then the other registers are what it says.
bool pop_signal_frame(KernelContext& context);

// True if a stack pointer of the target is on its alternate stack.
bool on_alternate_stack(const Thread& me, std::uint64_t sp);
void disable_alternate_stack(Thread& me);

// True if the floating-point state in a frame of the kernel's is not laid out as where the recording was made, so that
// the program has to be shown another (fp_state.h).
bool is_laid_out_otherwise(const void* fp_state);
// Bytes of the state as the program is shown it, and that: ends the run if it cannot be laid out so.
std::uint64_t shown_fp_bytes(const void* fp_state);
void show_fp_state(std::byte* to, const std::byte* fp_state);

// Returns to `context` for good, as the kernel's sigreturn does; `context` must lie on this thread's core stack.
[[noreturn]] void resume_context(KernelContext* context);

// Copies the interrupted state `from`, with its floating-point state, to the top of the core stack of `thread`.
KernelContext* copy_context(const KernelContext& from, const Thread& thread);

}  // namespace reweave::core
