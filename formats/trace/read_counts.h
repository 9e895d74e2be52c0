// Counts of reads, for reports.
#pragma once

#include <cstdint>

namespace reweave {

// Numbers of plain reads in a trace, and of those that decide nothing: as places in the code, and as events.
struct ReadCounts {
  std::uint64_t places = 0, free_places = 0;
  std::uint64_t events = 0, free_events = 0;
};

}  // namespace reweave
