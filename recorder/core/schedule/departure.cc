#include "recorder/core/schedule/departure.h"

#include "recorder/beginning.h"

namespace reweave::core {

namespace {

// Placed after all variables that every run touches (core.ld).
[[gnu::section(".bss.0sparse")]] ThreadDeparture threads[kMaxThreads];

}  // namespace

ThreadDeparture& departure_of(const Thread& thread) { return threads[thread.id]; }

std::uint64_t next_beginning() { return point_of(config().fork_at); }

std::int64_t points_to_beginning() {
  const std::uint64_t step = next_beginning();
  if (step == 0) return INT64_MAX / 2;
  return step <= state().step + 1 ? 0 : static_cast<std::int64_t>(step - state().step - 1);
}

bool begins_here() {
  const std::uint64_t step = next_beginning();
  return step != 0 && state().step >= step;
}

}  // namespace reweave::core
