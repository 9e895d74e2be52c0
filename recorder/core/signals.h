// Signals of the target: its handlers, masks and alternate stacks are virtual, ours are the real ones.
//
// Asynchronous signals are queued by a handler of ours and delivered at schedule points, logged; synchronous ones
// are delivered where they occur and recur by themselves in replay. Frames follow the kernel's rt_sigframe
// (arch/x86/include/asm/sigframe.h), so that unwinders and siglongjmp work.
#pragma once

#include "recorder/core/context.h"
#include "recorder/core/kernel_types.h"

namespace reweave::core {

inline constexpr int kSignalCount = 64;

constexpr std::uint64_t signal_bit(int number) { return std::uint64_t{1} << (number - 1); }
// The kernel's mask while the target's is `mask`: what our handlers need is never blocked.
std::uint64_t real_mask(std::uint64_t mask);

// The signals that the core handles whatever the target does with them.
std::uint64_t always_handled();

// True if `ip` is in the core's own code.
bool in_core(std::uint64_t ip);

// A signal from outside: queues it for the interrupted thread.
extern "C" [[gnu::visibility("hidden")]] void core_on_asynchronous(int number, void* info, void* context);

// Installs our handlers: SIGSYS for system calls, the synchronous signals, and what recording must see.
void install_core_handlers();
// Per real thread: the alternate stack that our handlers run on, and Syscall User Dispatch.
void prepare_thread(Thread& thread);

// Makes the kernel's mask of the calling thread follow the target's: pending signals that it unblocks are queued.
void apply_signal_mask(const Thread& me);

SignalAction& signal_action(int number);
// Makes the kernel's disposition follow the target's.
void apply_disposition(int number);

// True if a stack pointer of the target is on its alternate stack.
bool on_alternate_stack(const Thread& me, std::uint64_t sp);
void disable_alternate_stack(Thread& me);

// Our own alternate stack of `thread`, as sigaltstack takes it.
KernelStack core_stack(const Thread& thread);

// True if a queued signal waits for `thread` / if one is to be delivered at this very point.
bool signal_pending(const Thread& thread);
bool signal_due(const Thread& thread);

// What a signal does to a process that does not handle it (signal(7)).
enum class DefaultAction : std::uint8_t { kTerminate, kIgnore, kStop, kContinue };
// What `number` does to `process`: kIgnore if it has a handler.
DefaultAction default_action(const Process& process, int number);

// Queues a signal for `me`, the calling thread.
void queue_signal(Thread& me, int number, const void* info, bool external);
// Queues a signal that `me` sends to itself.
void queue_own_signal(Thread& me, int number);
// Live, before `me` unblocks signals: what is pending and would end or stop the process becomes ours to deliver.
void take_pending_defaults(Thread& me);
// The signals that are pending for `me` with us, not with the kernel.
std::uint64_t held_mask(const Thread& me);
// Takes the first of those that is in `set`; its number, or 0.
int take_held(Thread& me, std::uint64_t set, void* info);

// True if the handler of the first signal that is due has SA_RESTART, or there is none.
bool due_signal_restarts();

// Delivers what is due by changing `context`, to which the caller will return. `interrupted`: the system call just
// emulated failed with EINTR and may be restarted; `number` is that call's.
void deliver_signals(KernelContext& context, bool interrupted, long number);

// The target's rt_sigreturn: `context` becomes what its handler returns to. False: it has no such frame, and dies.
bool return_from_handler(KernelContext& context);

// A signal that the instruction before `context` caused, by design: delivered now, or the process dies of it.
void force_signal(KernelContext& context, int number, const void* info);
// The process dies of `number` when it returns to `context`, whatever it does with that signal.
void die_of(KernelContext& context, int number);

// Dies of `number` at once, as by its default action.
[[noreturn]] void die_by_signal(int number);

// Returns to `context` for good, as the kernel's sigreturn does; `context` must lie on this thread's core stack.
[[noreturn]] void resume_context(KernelContext* context);

// Copies the interrupted state `from`, with its floating-point state, to the top of the core stack of `thread`.
KernelContext* copy_context(const KernelContext& from, const Thread& thread);

// The result of a call that a signal kept from starting: after the handler it is made as if for the first time. The
// kernel's ERESTARTSYS, which no program ever sees.
inline constexpr long kNotStarted = -512;

// A system call that may block; returns kNotStarted if a signal was queued before it could block.
extern "C" long core_blocking_syscall(long number, const long* args, const std::uint32_t* queued);

}  // namespace reweave::core
