// The memory that the events of a run use, and the latest uses of each byte.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "explorer/run/events.h"

namespace reweave {

// The bytes of memory that an event uses: the first byte of a synchronisation object, all bytes of a released block.
struct Footprint {
  std::uint64_t start = 0, end = 0;

  bool overlaps(const Footprint& other) const { return start < other.end && other.start < end; }
  auto operator<=>(const Footprint&) const = default;
};

// Events are added in the order of execution. Time and memory grow with the number of events and of different
// footprints, not with the size of blocks. Thread rule: none of its own.
class LatestUses {
 public:
  explicit LatestUses(const std::vector<Event>& events) : events_(events) {}

  // Returns the indices of the conflicting events of other threads, among those added, that come before event `i`
  // without a write to the same bytes in between.
  std::set<std::size_t> before(std::size_t i) const;
  void add(std::size_t i);

 private:
  struct Uses {
    Footprint place;
    std::vector<std::size_t> since;  // the events of exactly this footprint, from its latest write on
  };

  template <typename Use>
  void visit(const Footprint& place, const Use& use) const;
  void collect(const Footprint& place, std::size_t i, std::set<std::size_t>& found) const;

  const std::vector<Event>& events_;
  std::vector<Uses> all_;
  std::map<Footprint, std::size_t> index_;                    // into all_
  std::map<std::uint64_t, std::vector<std::size_t>> narrow_;  // by granule: indices into all_
  std::multimap<std::uint64_t, std::size_t> wide_;            // by start: indices into all_
  std::uint64_t widest_ = 0;                                  // bytes of the largest in wide_
};

}  // namespace reweave
