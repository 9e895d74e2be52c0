// What the kernel has of us in place of the target's signals: our handlers, the real masks and dispositions.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Caused by an instruction, if it was not sent.
constexpr bool is_synchronous(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

// Signals that do nothing to a process that does not handle them (signal(7)).
inline constexpr std::uint64_t kIgnoredByDefault =
    signal_bit(SIGCHLD) | signal_bit(SIGCONT) | signal_bit(SIGURG) | signal_bit(SIGWINCH);
// Those that the terminal's driver sends.
inline constexpr std::uint64_t kTerminalStops = signal_bit(SIGTSTP) | signal_bit(SIGTTIN) | signal_bit(SIGTTOU);
// Signals that the kernel must always be able to deliver to us.
inline constexpr std::uint64_t kNeverBlocked = signal_bit(SIGSYS) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
                                               signal_bit(SIGFPE) | signal_bit(SIGILL) | signal_bit(SIGTRAP) |
                                               signal_bit(kWatchdogSignal) | signal_bit(SIGKILL) | signal_bit(SIGSTOP);

// The kernel's mask while the target's is `mask`: what our handlers need is never blocked.
std::uint64_t real_mask(std::uint64_t mask);

// The signals that the core handles whatever the target does with them.
std::uint64_t always_handled();

// Installs our handlers: SIGSYS for system calls, the synchronous signals, and what recording must see.
void install_core_handlers();
// Per real thread: the alternate stack that our handlers run on, and Syscall User Dispatch.
void prepare_thread(Thread& thread);

// Makes the kernel's mask of the calling thread follow the target's: pending signals that it unblocks are queued.
void apply_signal_mask(const Thread& me);

// What the target wants done with a signal.
SignalAction& signal_action(int number);
// The same of another thread's process.
const SignalAction& action_of(const Thread& thread, int number);
// Makes the kernel's disposition follow the target's.
void apply_disposition(int number);
void set_kernel_action(int number);  // live
// Live: all signals come to the core from now on, whatever the target does with them, or no longer.
void catch_all_signals(bool all);
// True from when that has begun until it begins to be no longer so.
bool is_to_catch_all();

// Our own alternate stack of `thread`, as sigaltstack takes it.
KernelStack core_stack(const Thread& thread);

}  // namespace reweave::core
