// The processes of the target's tree that have not ended.
#pragma once

#include <vector>

#include "recorder/alive_processes.h"

namespace reweave {

// Their indices in RuntimeState::processes, ascending. Without the baton the answer may be out of date.
inline std::vector<std::uint32_t> living_processes(const RuntimeState& state) {
  std::vector<std::uint32_t> indices;
  for (const Process& process : alive_processes(state))
    if (process.alive != 0) indices.push_back(static_cast<std::uint32_t>(&process - state.processes));
  return indices;
}

}  // namespace reweave
