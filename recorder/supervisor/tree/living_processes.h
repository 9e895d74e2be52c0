// The processes of the target's tree that have not ended.
#pragma once

#include <algorithm>
#include <vector>

#include "recorder/runtime_state.h"

namespace reweave {

// Their indices in RuntimeState::processes, ascending. Without the baton the answer may be out of date.
inline std::vector<std::uint32_t> living_processes(const RuntimeState& state) {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < std::min(state.alive_count, kMaxProcesses); i++) {
    const std::uint32_t index = state.alive[i] % kMaxProcesses;
    if (state.processes[index].alive != 0) indices.push_back(index);
  }
  return indices;
}

}  // namespace reweave
