// What the schedule asks of the rooms above: functions that core/wiring.cc names. Each is called by the baton holder;
// none may give the baton away.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct ScheduleHooks {
  // Replay, after records were consumed: whoever has to stop the thread before its next schedule point prepares that.
  void (*expect_preemption)();
  // A process that was forked has its first turn, and calls this.
  void (*process_begun)();
  // A process of the tree ended with `wait_status`: who traces it learns of it, whom it traces is let go; in an
  // explored run its parent is told.
  void (*process_ended)(std::uint16_t process, std::int32_t wait_status);

  // Explored runs: nobody can run. The outside does what it would have done by now; `late`: what it would have done
  // later, too. True if somebody can.
  bool (*outside_acts)(bool late);
  // Explored runs: some thread waits for what only the outside could bring.
  bool (*waits_for_outside)();
  // Explored runs: when the next timer that sends a signal runs out, in the modelled time; kNoDeadline: never.
  std::int64_t (*next_timer)();
  // Explored runs: time passes until that, and its signal is sent.
  void (*fire_next_timer)();
};
[[gnu::visibility("hidden")]] extern const ScheduleHooks schedule_hooks;

}  // namespace reweave::core
