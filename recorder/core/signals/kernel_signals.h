// The kernel's side of the target's signals: the core's handlers, and the real masks and dispositions.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Signals caused by an instruction, unless a process sent them.
constexpr bool is_synchronous(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

// Signals whose default action is nothing (signal(7)).
inline constexpr std::uint64_t kIgnoredByDefault =
    signal_bit(SIGCHLD) | signal_bit(SIGCONT) | signal_bit(SIGURG) | signal_bit(SIGWINCH);
// The stop signals that the terminal driver sends.
inline constexpr std::uint64_t kTerminalStops = signal_bit(SIGTSTP) | signal_bit(SIGTTIN) | signal_bit(SIGTTOU);
// Signals that the kernel must always be able to deliver to the core.
inline constexpr std::uint64_t kNeverBlocked = signal_bit(SIGSYS) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
                                               signal_bit(SIGFPE) | signal_bit(SIGILL) | signal_bit(SIGTRAP) |
                                               signal_bit(kWatchdogSignal) | signal_bit(SIGKILL) | signal_bit(SIGSTOP);

// The kernel's mask while the target's is `mask`: signals that the core needs are never blocked.
std::uint64_t real_mask(std::uint64_t mask);

// The signals that the core handles, regardless of the target's actions for them.
std::uint64_t always_handled();

// Installs the core's handlers: SIGSYS for system calls, the synchronous signals, and the signals that recording must
// see.
void install_core_handlers();
// Sets up the calling kernel thread: the alternate stack of the core's handlers, and Syscall User Dispatch.
void prepare_thread(Thread& thread);

// Makes the kernel's mask of the calling thread follow the target's. Pending signals that this unblocks are queued.
void apply_signal_mask(const Thread& me);

// The target's action for a signal.
SignalAction& signal_action(int number);
// The same for the process of another thread.
const SignalAction& action_of(const Thread& thread, int number);
// Makes the kernel's disposition follow the target's.
void apply_disposition(int number);
void set_kernel_action(int number);  // live
// Live. With `all`, the core gets all signals from now on, regardless of the target's actions for them. Without it,
// this ends.
void catch_all_signals(bool all);
// True from the start of catch_all_signals(true) to the start of catch_all_signals(false).
bool is_to_catch_all();

// The core's alternate stack for `thread`, as sigaltstack(2) takes it.
KernelStack core_stack(const Thread& thread);

}  // namespace reweave::core
