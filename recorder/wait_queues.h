// The queues of waiting threads, so that waking the threads that wait for one thing looks at no others. Each queue is
// in order of arrival. Things share queues, by a hash; a thread that waits for several futexes is in a queue of its own
// kind.
//
// A thread is in a queue while its state is kBlocked, so it enters before it gets that state, and leaves before or when
// it loses it.
//
// Thread rule: only the baton holder uses the queues. If it is killed meanwhile, the supervisor builds them again
// (supervisor/tree/repaired_state.h).
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

inline WaitQueue& wait_queue(RuntimeState& state, WaitKind kind, std::uint64_t key) {
  if (kind == WaitKind::kFutexVector) return state.vector_waits;
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio (Knuth, section 6.4)
  const std::uint64_t hash = (key ^ static_cast<std::uint64_t>(kind) << 56) * kSpread;
  return state.wait_queues[(hash >> 32) % kWaitQueues];
}

// Returns the first thread of the queue, or the one after `thread`; null if there is none.
inline Thread* first_waiting(RuntimeState& state, const WaitQueue& queue) {
  return queue.first == 0 ? nullptr : &state.threads[queue.first - 1];
}
inline Thread* next_waiting(RuntimeState& state, const Thread& thread) {
  return thread.next_waiting == 0 ? nullptr : &state.threads[thread.next_waiting - 1];
}

// Adds the thread, whose `wait` is complete.
inline void enter_wait_queue(RuntimeState& state, Thread& thread) {
  WaitQueue& queue = wait_queue(state, thread.wait.kind, thread.wait.key);
  std::uint16_t before = queue.last;  // only a requeued thread arrived earlier than the last one
  while (before != 0 && state.threads[before - 1].wait.order > thread.wait.order)
    before = state.threads[before - 1].previous_waiting;
  const std::uint16_t after = before == 0 ? queue.first : state.threads[before - 1].next_waiting;
  const auto own = static_cast<std::uint16_t>(thread.id + 1);
  thread.previous_waiting = before;
  thread.next_waiting = after;
  (before == 0 ? queue.first : state.threads[before - 1].next_waiting) = own;
  (after == 0 ? queue.last : state.threads[after - 1].previous_waiting) = own;
  state.waiting_at[wait_slot(thread.wait.address)]++;
  if (thread.wait.kind == WaitKind::kFutex && thread.wait.owner_tid != 0) state.waiting_for_owner.add(thread.id);
}

inline void leave_wait_queue(RuntimeState& state, Thread& thread) {
  WaitQueue& queue = wait_queue(state, thread.wait.kind, thread.wait.key);
  const std::uint16_t before = thread.previous_waiting, after = thread.next_waiting;
  (before == 0 ? queue.first : state.threads[before - 1].next_waiting) = after;
  (after == 0 ? queue.last : state.threads[after - 1].previous_waiting) = before;
  thread.previous_waiting = thread.next_waiting = 0;
  state.waiting_at[wait_slot(thread.wait.address)]--;
  state.waiting_for_owner.remove(thread.id);
}

}  // namespace reweave
