// The processes of the run that have not ended. A walk over this list skips the processes that have, of which there may
// be thousands.
//
// Thread rule: only the baton holder changes the list. Others, such as the supervisor, may read it meanwhile; they may
// miss a process or see one twice.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// Adds process `index`, which must be the newest of the run.
inline void mark_alive(RuntimeState& state, std::uint32_t index) {
  state.processes[index].alive = 1;
  state.alive[state.alive_count++] = static_cast<std::uint16_t>(index);
}

// Removes process `index`, which has ended.
inline void mark_ended(RuntimeState& state, std::uint32_t index) {
  state.processes[index].alive = 0;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < state.alive_count; i++)
    if (state.alive[i] != index) state.alive[kept++] = state.alive[i];
  state.alive_count = kept;
}

// The first process alive, in order of creation, for which `is_meant` is true; null if there is none.
template <typename IsMeant>
Process* find_alive(RuntimeState& state, IsMeant is_meant) {
  for (std::uint32_t i = 0; i < state.alive_count; i++) {
    Process& process = state.processes[state.alive[i] % kMaxProcesses];
    if (process.alive != 0 && is_meant(process)) return &process;
  }
  return nullptr;
}

}  // namespace reweave
