// A source of predicted candidates for a search during a campaign.
#pragma once

#include <optional>
#include <utility>

#include "formats/trace/candidates.h"

namespace reweave {

class CandidateFeed {
 public:
  virtual ~CandidateFeed() = default;
  // The next set of candidates, best first; nothing if none is ready.
  virtual std::optional<CandidateSet> take() = 0;
};

// A set that was predicted before the campaign.
class KnownCandidates : public CandidateFeed {
 public:
  explicit KnownCandidates(CandidateSet set) : set_(std::move(set)) {}
  std::optional<CandidateSet> take() override { return std::exchange(set_, std::nullopt); }

 private:
  std::optional<CandidateSet> set_;
};

}  // namespace reweave
