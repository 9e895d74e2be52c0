// Limits a sequence such that each kind of entry keeps its share: the first of each kind, then the second of each kind,
// and so on. If a limit cut off the end of the sequence, entries of rare kinds might all be lost, for example the only
// reader among many equal writers.
//
// The sequence is visited twice, because it may be far longer than what is kept: call count() for each entry, then
// takes() for each in the same order. Thread rule: none of its own.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace reweave {

template <typename Kind>
class FairShare {
 public:
  explicit FairShare(std::size_t most) : most_(most) {}

  void count(const Kind& kind) {
    counts_[kind]++;
    all_++;
  }
  // True if the next entry, of this kind, is one of those to keep.
  bool takes(const Kind& kind) {
    if (all_ <= most_) return true;
    if (seen_.empty()) settle();
    const std::size_t rank = seen_[kind]++;
    return rank < whole_ranks_ || (rank == whole_ranks_ && left_ > 0 && left_-- > 0);
  }
  // The number of entries for which takes() is false.
  std::size_t left_out() const { return all_ <= most_ ? 0 : all_ - most_; }

 private:
  // Finds the number of ranks that are kept whole, and the number of entries kept of the next rank.
  void settle() {
    std::vector<std::size_t> of_rank;  // entries of each rank; a rank is the number of earlier entries of the kind
    for (const auto& [kind, count] : counts_) {
      if (of_rank.size() < count) of_rank.resize(count);
      for (std::size_t rank = 0; rank < count; rank++) of_rank[rank]++;
    }
    left_ = most_;
    while (of_rank[whole_ranks_] <= left_) left_ -= of_rank[whole_ranks_++];
  }

  const std::size_t most_;
  std::size_t all_ = 0, whole_ranks_ = 0, left_ = 0;
  std::map<Kind, std::size_t> counts_, seen_;
};

}  // namespace reweave
