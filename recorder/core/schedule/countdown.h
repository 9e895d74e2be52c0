// The schedule points that a thread has left before the core is asked again, points_left(): calls count down in one
// counter, stubs (counting_stubs.h) in several others, for a processor is slow at counting again and again at one
// address. A counter that has run out before the sum has is given of what the others have.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Shares `points` out: all for the counter that has run out if they are few.
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

// All for the counter of calls: the thread is in a loop that counts in no other.
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

// The schedule point that the thread has reached, whatever the fast paths have yet to account for.
inline std::uint64_t step_of(const Thread& thread) {
  return state().step + static_cast<std::uint64_t>(points_done(thread));
}

// Brings the step count up to what the fast paths have counted; `left` points are left from here on.
void settle(Thread& me, std::int64_t left = 0);

}  // namespace reweave::core
