#include "predictor/analyses/rows.h"

namespace reweave {

std::span<const AnalysisRow> all_analyses() {
  static constexpr AnalysisRow kRows[] = {
      {"deadlocks", "threads that wait for each other's locks", make_deadlocks, false},
      {"orders", "use after free, read before initialisation", make_orders, false},
      {"atomicity", "an access of another thread between two that belong together", make_atomicity, true},
      {"races", "conflicting accesses with nothing between them", make_races, false},
  };
  return kRows;
}

}  // namespace reweave
