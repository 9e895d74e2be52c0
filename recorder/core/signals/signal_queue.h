// Signals received by a thread of the target and not yet delivered.
//
// Thread rule: the thread itself, and its signal handlers.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The si_code with which a thread sends itself a signal that carries the code of a fault. The kernel accepts negative
// codes from any process, and no other program uses these. queue_signal restores the original code.
constexpr std::int32_t disguised_code(std::int32_t code) { return -0x5257'0000 - code; }

// Queues a signal for `me`, the calling thread.
void queue_signal(Thread& me, int number, const void* info, bool external);
// Likewise, from a handler that others may interrupt.
void queue_from_handler(Thread& me, int number, const void* info);
// Queues a signal that `me` sends to itself.
void queue_own_signal(Thread& me, int number);
// Live, before `me` unblocks signals: takes over pending signals that would end or stop the process.
void take_pending_defaults(Thread& me);

QueuedSignal take_queued(Thread& me, std::uint32_t index);
// Live: takes the signal that is delivered next. False: there is none, because later signals have cancelled all.
bool take_next(Thread& me, QueuedSignal& signal);

// si_code of marks in a tracee's queue, which have the number SIGSTOP. kRequestCode: its tracer or a group-stop asks it
// to stop. kSignalCode: SIGSTOP was sent; its siginfo is elsewhere (ptrace/tracing.h, settle_request).
inline constexpr std::int32_t kRequestCode = -0x5256, kSignalCode = -0x5258;
bool is_mark(const QueuedSignal& signal);
// True for a signal that another thread's core sent (kKickValue), which the program must not see.
bool is_kick(const void* info);
bool is_request_to_stop(const QueuedSignal& signal);

// A signal queued before the target blocked it is pending for the target. The kernel keeps pending signals, because it
// shows them to sigpending, sigwait and signalfd; the core holds those that the kernel may not block.
void put_back_blocked(Thread& me);
// Queues held signals that are no longer blocked; those that an instruction may have caused go before all others, as in
// the kernel.
void release_held(Thread& me);
// The numbers of the held signals.
std::uint64_t held_mask(const Thread& me);
// Takes the first held signal in `set`; returns its number, or 0.
int take_held(Thread& me, std::uint64_t set, void* info);
// Discards the held signals with this number, which the target now ignores.
void drop_held(Thread& me, int number);
// True if the next signal to be taken from `set` is a held one, rather than one of `pending`, which the kernel keeps.
bool held_come_first(const Thread& me, std::uint64_t set, std::uint64_t pending);

}  // namespace reweave::core
