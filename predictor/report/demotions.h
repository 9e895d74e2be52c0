// Behaviour of correct programs that looks like a bug: such findings keep their witness, but rank low and say why.
#pragma once

#include <string>
#include <vector>

#include "predictor/model/trace_model.h"
#include "predictor/witness/finding.h"

namespace reweave {

class Demotions {
 public:
  // `model` must outlive it.
  explicit Demotions(const TraceModel& model);

  // Lowers the score of `finding` and adds a remark for each reason that applies.
  void apply(Finding& finding) const;

 private:
  bool is_predicate(const Finding& finding) const;
  bool is_each_whole(const Finding& finding) const;
  bool reads_afresh(const Finding& finding) const;
  bool begins_before_the_other(const Finding& finding) const;
  bool is_early_atomic_read(const Finding& finding) const;
  static bool is_early_locked_read(const Finding& finding);
  // A variable outside the finding from which a read of the witness gets another value than in the trace, while the
  // read is assumed to decide nothing; or kNone.
  std::uint32_t assumed_elsewhere(const Finding& finding) const;
  bool has_variable(const Finding& finding, std::uint32_t variable) const;

  const TraceModel& model_;
  std::vector<bool> predicates_;     // by variable: read by a thread that then waits in the same section
  std::vector<EventIndex> fork_of_;  // by thread, or kNone
};

}  // namespace reweave
