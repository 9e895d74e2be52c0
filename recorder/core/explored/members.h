// The processes that an explored run has made: whose children they are, how they ended, their groups.
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
  long group, session;  // 0: as where the run began
};

// By index of Process. Those that there were where the run began are none of the run's.
Member& member(std::uint32_t index);

// The process has ended, and its parent has yet to wait for it.
bool is_zombie(long pid);

}  // namespace reweave::core
