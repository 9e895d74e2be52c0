// Repeats failing runs that other campaigns found.
#pragma once

#include <cstddef>
#include <vector>

#include "explorer/campaign/found_failure.h"
#include "explorer/searches/search.h"

namespace reweave {

class Repeats : public Search {
 public:
  // `failures` outlives this.
  explicit Repeats(const std::vector<FoundFailure>& failures) : failures_(failures) {}

  std::optional<RunRequest> next() override;
  void learn(const RunRequest& request, const RunResult& result) override;

  // Indices of the failures that did not occur again, or whose schedule is too long for a request.
  const std::vector<std::size_t>& missed() const { return missed_; }

 private:
  const std::vector<FoundFailure>& failures_;
  std::size_t asked_ = 0;
  std::vector<std::size_t> under_way_, missed_;
  std::size_t learned_ = 0;  // of under_way_
};

}  // namespace reweave
