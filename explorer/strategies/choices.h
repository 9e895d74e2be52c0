// Helpers for policies that inspect the threads that can run.
#pragma once

#include "recorder/policy.h"

namespace reweave {

inline bool contains(const ChoiceArgs& args, ThreadId thread) {
  for (std::uint32_t i = 0; i < args.count; i++)
    if (args.enabled[i] == thread) return true;
  return false;
}

// True if the thread waits and has not been woken: if chosen, it resumes because its wait times out.
inline bool times_out(const Thread& thread) {
  return thread.state.load() == ThreadState::kBlocked && thread.expired.load() == 0;
}

// The default order, true if `a` goes before `b`: threads that need no time-out first, then by deadline, then round
// robin in order of creation, so that every thread gets its turn.
inline bool goes_before(const ChoiceArgs& args, ThreadId a, ThreadId b) {
  const Thread &first = args.threads[a], &second = args.threads[b];
  if (times_out(first) != times_out(second)) return times_out(second);
  if (times_out(first) && first.wait.deadline != second.wait.deadline)
    return first.wait.deadline < second.wait.deadline;
  const bool a_later = a > args.current.id, b_later = b > args.current.id;
  return a_later != b_later ? a_later : a < b;
}

// Any thread, each equally likely. A thread that yields waits for something, so the others go first.
inline ThreadId any_thread(const ChoiceArgs& args) {
  const ThreadId chosen = args.enabled[random_below(args.state, args.count)];
  if (!args.yielded || args.count == 1 || chosen != args.current.id) return chosen;
  std::uint64_t left = random_below(args.state, args.count - 1);
  for (std::uint32_t i = 0; i < args.count; i++)
    if (args.enabled[i] != args.current.id && left-- == 0) return args.enabled[i];
  return chosen;
}

// The next thread after the current one.
inline ThreadId next_in_turn(const ChoiceArgs& args) {
  ThreadId next = args.enabled[0];
  for (std::uint32_t i = 1; i < args.count; i++)
    if (goes_before(args, args.enabled[i], next)) next = args.enabled[i];
  return next;
}

// The current thread if it can continue, else the next one.
inline ThreadId without_preemption(const ChoiceArgs& args) {
  return args.current_enabled && !args.yielded ? args.current.id : next_in_turn(args);
}

// The thread with the highest priority, the oldest of equals.
template <typename Priority>
ThreadId highest(const ChoiceArgs& args, const Priority& priority) {
  ThreadId best = args.enabled[0];
  for (std::uint32_t i = 1; i < args.count; i++)
    if (priority(args.state, args.enabled[i]) > priority(args.state, best)) best = args.enabled[i];
  return best;
}

inline bool is_memory(const PendingOp& op) { return op.kind == OpKind::kAccess || op.kind == OpKind::kAtomic; }

// True if the order of the two operations matters: they concern the same object, and are not both reads.
inline bool conflicting(std::uint64_t a, std::uint64_t a_bytes, bool a_writes, std::uint64_t b, std::uint64_t b_bytes,
                        bool b_writes) {
  if (a == 0 || b == 0 || (!a_writes && !b_writes)) return false;
  return a < b + (b_bytes == 0 ? 1 : b_bytes) && b < a + (a_bytes == 0 ? 1 : a_bytes);
}

inline bool conflicting(const PendingOp& a, const PendingOp& b) {
  if (a.kind == OpKind::kSyscall || b.kind == OpKind::kSyscall) return false;
  // The release of a block (its size is known) counts as a write to all of it.
  const bool ranges = (is_memory(a) || a.kind == OpKind::kOther) && (is_memory(b) || b.kind == OpKind::kOther);
  if (!ranges) return a.object != 0 && a.object == b.object;
  return conflicting(a.object, a.detail, a.is_write != 0, b.object, b.detail, b.is_write != 0);
}

inline bool sorted_contains(const std::uint64_t* sites, std::uint64_t count, std::uint64_t pc) {
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (sites[half] == pc) return true;
    if (sites[half] < pc) {
      sites += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return false;
}

}  // namespace reweave
