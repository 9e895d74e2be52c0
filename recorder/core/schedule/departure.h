// The state that threads of a replay keep so that an explored run can begin while they wait for the baton
// (explored/fork_server.h).
//
// Thread rule: the thread itself with the baton, or the baton holder.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The time limit of a wait, as the program gave it.
struct WaitLimit {
  static constexpr int kFromNow = -1;
  bool some;          // false: no limit
  int clock;          // CLOCK_MONOTONIC or CLOCK_REALTIME, which then shows `time`, or kFromNow
  std::int64_t time;  // nanoseconds
};

struct ThreadDeparture {
  WaitLimit limit;     // of its wait; a replay ignores it
  bool awaits_answer;  // it sleeps in a call that an explored run can also answer
  bool departed;       // an explored run began while it slept
};
// This process's, by id.
ThreadDeparture& departure_of(const Thread& thread);

// Replay: returns the number of the schedule point before whose operation explored runs begin (RunConfig::fork_at); 0
// if they do not begin at a point.
std::uint64_t next_beginning();
// Returns the number of points that the thread may count before the core must look for that point.
std::int64_t points_to_beginning();
// True if the point just reached is that one or a later one.
bool begins_here();

}  // namespace reweave::core
