// The processes created by an explored run: their parents, how they ended, their groups.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

enum class Life : std::uint8_t { kNotOfRun, kAlive, kZombie, kGone };

struct Member {
  Life life;
  bool orphaned;
  std::uint16_t parent;  // index
  std::int32_t wait_status;
  long group, session;  // 0: as at the start of the run
};

// By index of Process. Processes that existed at the start of the run are kNotOfRun.
Member& member(std::uint32_t index);

// True if the process has ended and its parent has not waited for it yet.
bool is_zombie(long pid);

}  // namespace reweave::core
