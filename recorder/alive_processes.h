// The processes of the run that have not ended. A walk over them skips the processes that have, of which there may be
// thousands.
//
// Thread rule: only the baton holder changes the set. Others, such as the supervisor, may walk over it meanwhile.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// In order of creation.
inline Members<Process, kMaxProcesses> alive_processes(RuntimeState& state) {
  return {state.processes, state.alive, state.process_count};
}
inline Members<const Process, kMaxProcesses> alive_processes(const RuntimeState& state) {
  return {state.processes, state.alive, state.process_count};
}

// Adds process `index`.
inline void mark_alive(RuntimeState& state, std::uint32_t index) {
  state.processes[index].alive = 1;
  state.processes[state.processes[index].memory_of].memory_users++;
  state.alive.add(index);
  state.alive_count++;
}

// Removes process `index`, which has ended. Its creator may have been killed before it added the process.
inline void mark_ended(RuntimeState& state, std::uint32_t index) {
  state.processes[index].alive = 0;
  if (!state.alive.has(index)) return;
  state.processes[state.processes[index].memory_of].memory_users--;
  state.alive.remove(index);
  state.alive_count--;
}

// Gives a process that used the memory of `memory_of` memory of its own.
inline void own_memory(RuntimeState& state, Process& process) {
  state.processes[process.memory_of].memory_users--;
  process.memory_of = process.index;
  process.memory_users++;
}

// True if another process uses the memory of this one.
inline bool memory_is_shared(const RuntimeState& state, const Process& process) {
  return state.processes[process.memory_of].memory_users > (process.alive != 0 ? 1 : 0);
}

// The first process alive, in order of creation, for which `is_meant` is true; null if there is none.
template <typename IsMeant>
Process* find_alive(RuntimeState& state, IsMeant is_meant) {
  for (Process& process : alive_processes(state))
    if (process.alive != 0 && is_meant(process)) return &process;
  return nullptr;
}

}  // namespace reweave
