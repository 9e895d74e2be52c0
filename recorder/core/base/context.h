// State that every part of the core can reach: the arena, the running thread, the running process.
#pragma once

#include "recorder/core/base/sys.h"
#include "recorder/runtime_state.h"

namespace reweave::core {

inline ArenaHeader& arena() { return *reinterpret_cast<ArenaHeader*>(kArenaBase); }
inline RuntimeState& state() { return *reinterpret_cast<RuntimeState*>(kArenaBase + kHeaderBytes); }
inline const RunConfig& config() { return arena().config; }
inline bool replaying() { return config().mode == Mode::kReplay; }
// True in an explored run: system calls are answered from the recording that the run departed from.
inline bool modelled() { return config().environment == Environment::kModelled; }
// True if system calls are really made.
inline bool live() { return config().environment == Environment::kLive; }
// True once an explored run has used up the schedule points of its own policy.
inline bool in_fair_part() { return config().fair_from != 0 && state().step >= config().fair_from; }
inline bool tracing() { return config().sink == Sink::kTrace; }

// The running thread: the GS base points at its Thread.
inline Thread& self() {
  Thread* thread;
  asm volatile("movq %%gs:0, %0" : "=r"(thread));
  return *thread;
}
inline Thread& thread_of(ThreadId id) { return state().threads[id]; }
// The thread that traces `thread` with ptrace(2); null if it is not traced.
inline Tracee* tracee_of(const Thread& thread) {
  return thread.tracee == 0 ? nullptr : &state().tracees[thread.tracee - 1];
}
inline Process& process() { return state().processes[self().process]; }

}  // namespace reweave::core
