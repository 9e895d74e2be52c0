// Signals that came to a thread of the target and were not delivered yet.
//
// Thread rule: a thread's own, and its signal handlers.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The si_code under which a thread sends itself a signal with the code of a fault: one that the kernel takes from
// anybody and that nobody uses. queue_signal undoes it.
constexpr std::int32_t disguised_code(std::int32_t code) { return -0x5257'0000 - code; }

// Queues a signal for `me`, the calling thread.
void queue_signal(Thread& me, int number, const void* info, bool external);
// The same from a handler that others may interrupt.
void queue_from_handler(Thread& me, int number, const void* info);
// Queues a signal that `me` sends to itself.
void queue_own_signal(Thread& me, int number);
// Live, before `me` unblocks signals: what is pending and would end or stop the process becomes ours to deliver.
void take_pending_defaults(Thread& me);

QueuedSignal take_queued(Thread& me, std::uint32_t index);

// si_code of the SIGSTOP that stands for PTRACE_INTERRUPT in a tracee's queue, and for a group-stop, whose signal is
// its si_errno then.
inline constexpr std::int32_t kInterruptCode = -0x5256, kGroupCode = -0x5257;
bool is_request_to_stop(const QueuedSignal& signal);

// Signals that came before the target blocked them are pending for it, and pending ones are the kernel's to keep:
// it shows them to sigpending, sigwait and signalfd. Those that the kernel may not block are held by us.
void put_back_blocked(Thread& me);
// Queues what is held and no longer blocked: what an instruction may have caused before all others, as the kernel does.
void release_held(Thread& me);
// The signals that are held.
std::uint64_t held_mask(const Thread& me);
// Takes the first of those that is in `set`; its number, or 0.
int take_held(Thread& me, std::uint64_t set, void* info);
// Forgets those with this number: the target ignores it from now on.
void drop_held(Thread& me, int number);
// True if of the signals in `set` the first to be taken is held, and not one of `pending`, which the kernel has.
bool held_come_first(const Thread& me, std::uint64_t set, std::uint64_t pending);

}  // namespace reweave::core
