// A vector clock that grows with the threads seen. Missing entries are 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace reweave {

class VectorClock {
 public:
  std::uint32_t operator[](std::size_t thread) const { return thread < entries_.size() ? entries_[thread] : 0; }
  std::uint32_t& at(std::size_t thread) {
    if (thread >= entries_.size()) entries_.resize(thread + 1, 0);
    return entries_[thread];
  }
  // Returns true if this changed an entry.
  bool join(const VectorClock& other) {
    if (other.entries_.size() > entries_.size()) entries_.resize(other.entries_.size(), 0);
    bool changed = false;
    for (std::size_t i = 0; i < other.entries_.size(); ++i) {
      changed |= other.entries_[i] > entries_[i];
      entries_[i] = std::max(entries_[i], other.entries_[i]);
    }
    return changed;
  }
  // True if no entry exceeds that of `other`.
  bool below(const VectorClock& other) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i] > other[i]) return false;
    }
    return true;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<std::uint32_t> entries_;
};

}  // namespace reweave
