#include "predictor/analyses/rows.h"

namespace reweave {

std::span<const AnalysisRow> all_analyses() {
  static constexpr AnalysisRow kRows[] = {
      {"deadlocks", "threads that wait for each other's locks", make_deadlocks},
      {"orders", "use after free, read before initialisation", make_orders},
      {"atomicity", "an access of another thread between two that belong together", make_atomicity},
      {"races", "conflicting accesses with nothing between them", make_races},
  };
  return kRows;
}

}  // namespace reweave
