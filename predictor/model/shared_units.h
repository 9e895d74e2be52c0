// Finds units: runs of code that look as if they were meant to be atomic; and the variables that belong together
// because they are accessed in the same units. After MUVI (Lu et al., SOSP 2007), with sections in place of functions.
//
// A *unit* is what a thread does between an outermost acquisition and its release; or, without a lock, a short run of
// accesses without synchronisation in between.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

// A variable in a unit.
struct UnitAccess {
  std::uint32_t variable;
  EventIndex first, last;  // accesses of it in the unit
};

struct Unit {
  std::uint32_t thread;
  EventIndex section;  // the outermost acquisition; kNone: no lock is held
  std::vector<UnitAccess> accesses;

  const UnitAccess* find(std::uint32_t variable) const {
    for (const UnitAccess& a : accesses) {
      if (a.variable == variable) return &a;
    }
    return nullptr;
  }
};

// The units of a trace, thread by thread in order. Units that touch one variable are kept; those that touch more than
// kMostVariables are not: they initialise or summarise, and say little about what belongs together. Atomics are
// ignored.
class SharedUnits {
 public:
  static constexpr std::size_t kMostVariables = 8;

  explicit SharedUnits(const TraceModel& model);

  const std::vector<Unit>& units() const { return units_; }
  // Pairs (smaller variable first) that occur together in several units, and in at least half of the units of the rarer
  // one.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs() const { return pairs_; }
  // The units (indices) that touch a variable of some pair, by variable.
  const std::vector<std::uint32_t>& units_of(std::uint32_t variable) const;

 private:
  void collect(const TraceModel& model, std::uint32_t thread);
  void learn();

  std::vector<Unit> units_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> units_of_;
};

}  // namespace reweave
