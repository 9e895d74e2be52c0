// The functions of higher folders that the scheduler needs; core/wiring.cc names them. The baton holder calls them, and
// none may give the baton away.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct ScheduleHooks {
  // Replay, after records were consumed: prepares a stop of the thread before its next schedule point, if the recording
  // has one.
  void (*expect_preemption)();
  // Replay: before the operation of the schedule point of RunConfig::fork_at. May return in an explored run.
  void (*at_beginning)();
  // A process that was forked has its first turn, and calls this.
  void (*process_begun)();
  // A process of the tree ended with `wait_status`: its tracer is notified and its tracees are released; in an explored
  // run its parent is notified.
  void (*process_ended)(std::uint16_t process, std::int32_t wait_status);

  // Explored runs: no thread can run. Lets the outside do what it would have done by now; with `late`, also what it
  // would have done later. True if a thread can run then.
  bool (*outside_acts)(bool late);
  // Explored runs: true if a thread waits for something that only the outside could bring.
  bool (*waits_for_outside)();
  // Explored runs: when the next timer that sends a signal expires, in modelled time; kNoDeadline: never.
  std::int64_t (*next_timer)();
  // Explored runs: advances time to that point and sends the signal.
  void (*fire_next_timer)();
};
[[gnu::visibility("hidden")]] extern const ScheduleHooks schedule_hooks;

}  // namespace reweave::core
