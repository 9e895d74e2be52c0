// Waiting threads: finds those that need other threads to continue, and names what they wait for.
//
// Thread rule: as for the runtime state (runtime_state.h); what the supervisor learns without the baton may be out of
// date.
#pragma once

#include "recorder/live_threads.h"

namespace reweave {

// By WaitKind; each completes "thread 1 waits for".
inline constexpr const char* kWaitNames[] = {"nothing",          "a futex",         "a mutex",     "a read-write lock",
                                             "a spin lock",      "a condition",     "a semaphore", "its vfork child",
                                             "time or a signal", "several futexes", "its tracer"};
static_assert(sizeof kWaitNames / sizeof kWaitNames[0] == static_cast<std::uint32_t>(WaitKind::kTracer) + 1);

inline const char* name_of(WaitKind kind) {
  const auto index = static_cast<std::uint32_t>(kind);
  return index <= static_cast<std::uint32_t>(WaitKind::kTracer) ? kWaitNames[index] : "an unknown thing";
}

// True if a signal has stopped the thread or is about to stop its process.
inline bool is_stopped(const RuntimeState& state, const Thread& thread) {
  return thread.stopped != 0 || state.processes[thread.process % kMaxProcesses].stopping.load() != 0;
}

// True if the thread waits, and neither time nor a signal that it has received ends the wait.
inline bool needs_others(const RuntimeState& state, const Thread& thread) {
  return thread.state.load() == ThreadState::kBlocked && !is_stopped(state, thread) &&
         thread.wait.deadline == kNoDeadline && thread.expired.load() == 0;
}

// Returns the thread for whose end `waiter` waits, as pthread_join does, on the word that the kernel clears when a
// thread ends. Null if it waits for something else.
inline const Thread* awaited_end(const RuntimeState& state, const Thread& waiter) {
  if (waiter.wait.kind != WaitKind::kFutex) return nullptr;
  const auto memory = [&](const Thread& thread) { return state.processes[thread.process % kMaxProcesses].memory_of; };
  for (const Thread& thread : live_threads(state))
    if (thread.clear_child_tid == waiter.wait.address && memory(thread) == memory(waiter)) return &thread;
  return nullptr;
}

// Returns the address in the program from which it made the call that waits; 0 if unknown. `awaited`: the thread whose
// end it waits for, or null. For futexes and other system calls this is the call itself, except in pthread_join.
inline std::uint64_t waits_at(const Thread& thread, const Thread* awaited) {
  const WaitKind kind = thread.wait.kind;
  const bool interposed = awaited != nullptr || (kind >= WaitKind::kMutex && kind <= WaitKind::kSemaphore);
  return interposed && thread.waits_at != 0 ? thread.waits_at : thread.op.pc;
}

}  // namespace reweave
