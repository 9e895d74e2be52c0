#include "predictor/analyses/rows.h"

namespace reweave {

std::span<const AnalysisRow> all_analyses() {
  static constexpr AnalysisRow kRows[] = {
      {"deadlocks", "threads that wait for each other's locks", make_deadlocks, false},
      {"waits", "a lock held across a wait for a condition or a thread", make_waits, false},
      {"double-frees", "a heap block released by two threads", make_double_frees, false},
      {"orders", "use after free, read before initialisation", make_orders, false},
      {"null-uses", "a pointer read after another thread reset it", make_null_uses, false},
      {"lost-wakeups", "a notification that comes before the wait", make_lost_wakeups, false},
      {"lifetimes", "the process or a thread ends too early: a join is missing", make_lifetimes, false},
      {"atomicity", "an access of another thread between two that belong together", make_atomicity, true},
      {"two-variables", "another thread sees two related variables when only one of them is updated",
       make_two_variables, true},
      {"races", "conflicting accesses with nothing between them", make_races, false},
  };
  return kRows;
}

}  // namespace reweave
