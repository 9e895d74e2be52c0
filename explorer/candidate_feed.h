// Where a search gets predicted candidates from while a campaign is under way.
#pragma once

#include <optional>
#include <utility>

#include "formats/candidates.h"

namespace reweave {

class CandidateFeed {
 public:
  virtual ~CandidateFeed() = default;
  // The next set of candidates, best first. Nothing: none is there now.
  virtual std::optional<CandidateSet> take() = 0;
};

// A set that was made before.
class KnownCandidates : public CandidateFeed {
 public:
  explicit KnownCandidates(CandidateSet set) : set_(std::move(set)) {}
  std::optional<CandidateSet> take() override { return std::exchange(set_, std::nullopt); }

 private:
  std::optional<CandidateSet> set_;
};

}  // namespace reweave
