// What every part of the core can reach: the arena, the running thread, and the process's own state.
#pragma once

#include "recorder/core/base/sys.h"
#include "recorder/runtime_state.h"

namespace reweave::core {

inline ArenaHeader& arena() { return *reinterpret_cast<ArenaHeader*>(kArenaBase); }
inline RuntimeState& state() { return *reinterpret_cast<RuntimeState*>(kArenaBase + kHeaderBytes); }
inline const RunConfig& config() { return arena().config; }
inline bool replaying() { return config().mode == Mode::kReplay; }
// An explored run: the environment is answered from the recording it departed from.
inline bool modelled() { return config().environment == Environment::kModelled; }
// System calls are really made.
inline bool live() { return config().environment == Environment::kLive; }
// An explored run has used up the schedule points of its own policy.
inline bool in_fair_part() { return config().fair_from != 0 && state().step >= config().fair_from; }
inline bool tracing() { return config().sink == Sink::kTrace; }

// The running thread: the GS base points at its Thread.
inline Thread& self() {
  Thread* thread;
  asm volatile("movq %%gs:0, %0" : "=r"(thread));
  return *thread;
}
inline Thread& thread_of(ThreadId id) { return state().threads[id]; }
// Who traces `thread` (ptrace(2)); null: nobody does.
inline Tracee* tracee_of(const Thread& thread) {
  return thread.tracee == 0 ? nullptr : &state().tracees[thread.tracee - 1];
}
inline Process& process() { return state().processes[self().process]; }

}  // namespace reweave::core
