// Counts of reads, for reports.
#pragma once

#include <cstdint>

namespace reweave {

// How many plain reads a trace has, and how many of them decide nothing: places in the code, and events.
struct ReadCounts {
  std::uint64_t places = 0, free_places = 0;
  std::uint64_t events = 0, free_events = 0;
};

}  // namespace reweave
