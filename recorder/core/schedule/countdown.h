// The schedule points left to a thread before the core is asked again, points_left(). Calls use one counter, stubs
// (counting_stubs.h) several others, because a processor is slow at counting repeatedly at one address. A counter that
// runs out while others have points left gets some of theirs.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Distributes `points`; if they are few, the counter that has run out gets all.
inline void set_points_left(Thread& thread, std::int64_t points) {
  constexpr std::int64_t kFew = 16;
  if (state().has_counting_stubs == 0) {
    thread.countdown = points;
    return;
  }
  std::int64_t* shortest = &thread.countdown;
  for (std::int64_t& counter : thread.stub_countdowns)
    if (counter < *shortest) shortest = &counter;
  const std::int64_t share = points < kFew ? 0 : points / (1 + kStubCountdowns);
  thread.countdown = share;
  for (std::int64_t& counter : thread.stub_countdowns) counter = share;
  *shortest += points - share * (1 + kStubCountdowns);
}

// Moves all points to the counter of calls: the thread is in a loop that uses no other.
inline void gather_points(Thread& thread) {
  const std::int64_t left = points_left(thread);
  for (std::int64_t& counter : thread.stub_countdowns) counter = 0;
  thread.countdown = left;
}

inline void set_budget(Thread& thread, std::int64_t points) {
  set_points_left(thread, points);
  thread.budget = points;
}

// Points that the fast paths have counted since the step count was last brought up to date.
inline std::int64_t points_done(const Thread& thread) { return thread.budget - points_left(thread); }

// The schedule point that the thread has reached, including points that the fast paths have not accounted for yet.
inline std::uint64_t step_of(const Thread& thread) {
  return state().step + static_cast<std::uint64_t>(points_done(thread));
}

// Updates the step count with what the fast paths have counted; from here on `left` points are left.
void settle(Thread& me, std::int64_t left = 0);

}  // namespace reweave::core
