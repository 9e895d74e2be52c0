// What threads of a replay must know, or leave behind, so that an explored run can begin while they wait for the baton
// (explored/fork_server.h).
//
// Thread rule: the thread itself with the baton, or the baton holder.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// How long a wait may last, as the program said it.
struct WaitLimit {
  static constexpr int kFromNow = -1;
  bool some;          // false: for ever
  int clock;          // CLOCK_MONOTONIC or CLOCK_REALTIME, which then shows `time`, or kFromNow
  std::int64_t time;  // nanoseconds
};

struct ThreadDeparture {
  WaitLimit limit;     // of its wait, of which a replay takes no notice
  bool awaits_answer;  // it sleeps before an answer that an explored run can give as well
  bool departed;       // an explored run began while it slept
};
// This process's, by id.
ThreadDeparture& departure_of(const Thread& thread);

// Replay: the schedule point before whose operation something begins (RunConfig::fork_at); 0: none does.
std::uint64_t next_beginning();
// Points until the core must be asked because of that.
std::int64_t points_to_beginning();
// The point that was just reached is that one, or behind it.
bool begins_here();

}  // namespace reweave::core
