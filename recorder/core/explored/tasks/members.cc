#include "recorder/core/explored/tasks/members.h"

#include "recorder/core/explored/model_memory.h"

namespace reweave::core {

namespace {

IN_MODEL Member members[kMaxProcesses];

}  // namespace

Member& member(std::uint32_t index) { return members[index]; }

bool is_zombie(long pid) {
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.process_count; i++)
    if (members[i].life == Life::kZombie && s.processes[i].pid == pid) return true;
  return false;
}

}  // namespace reweave::core
