// Finds two or three orders of events that cause a failure only together. Examples are two variables that are read half
// updated, and a wake-up that is lost because a flag was read too early.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <vector>

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

// The pairs of events of a failing run that passing runs reorder.
class Reorderings {
 public:
  explicit Reorderings(const std::vector<Event>& failing) : failing_(failing) {}

  // Adds a passing run that was observed. Runs after the first kMostRuns, or after many events, are ignored.
  void learn(const RunResult& passing);

  // Returns at most `most` sets of up to kMostOrders pairs. Almost every passing run reorders at least one pair of each
  // set. Sets of a single pair come first, then sets whose first pair is reordered by the most runs.
  std::vector<std::vector<EventPair>> covers(std::size_t most) const;

  static constexpr std::size_t kMostRuns = 256, kMostOrders = 3;

 private:
  using Runs = std::bitset<kMostRuns>;
  struct Group {
    EventPair pair;  // the clearest of the pairs that exactly these runs reorder
    Runs runs;
  };
  Runs reordering(const EventPair& pair) const;
  std::vector<Group> groups() const;
  std::vector<EventPair> cover_from(const std::vector<Group>& groups, const Group& first) const;

  const std::vector<Event>& failing_;
  std::map<std::pair<Arrival, Arrival>, EventPair> pairs_;  // by their names
  std::vector<Positions> runs_;
  std::size_t events_ = 0;  // in all runs
};

// Tries the covers with two or three pairs. Returns the first whose orders make random schedules fail more often than
// `base`, the best rate known without the set, and more often than with any one of them reversed. Orders that do not
// matter are left out. Nothing if there is no such set, or if the time is up. At most about 200 runs for each cover.
std::optional<OrderSet> find_order_set(Laboratory& laboratory, const std::vector<std::vector<EventPair>>& covers,
                                       const Rate& base);

}  // namespace reweave
