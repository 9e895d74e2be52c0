// given: makes given runs in order and keeps the end of each.
#pragma once

#include <vector>

#include "explorer/searches/search.h"

namespace reweave {

struct GivenEnd {
  bool examined = false;  // it says something about the program
  bool failed = false;
  GuideProgress guide = {};      // of a guided run
  WitnessProgress witness = {};  // of a run along a witness
};

class GivenRuns : public Search {
 public:
  // `runs` outlive this.
  explicit GivenRuns(const std::vector<RunRequest>& runs) : runs_(runs) {}

  std::optional<RunRequest> next() override;
  void learn(const RunRequest& request, const RunResult& run) override;
  bool complete() const override { return next_ == runs_.size(); }
  const std::vector<GivenEnd>& ends() const { return ends_; }

 private:
  const std::vector<RunRequest>& runs_;
  std::size_t next_ = 0;
  std::vector<GivenEnd> ends_;
};

}  // namespace reweave
