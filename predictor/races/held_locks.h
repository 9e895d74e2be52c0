// The locks that threads hold, as sets shared by many accesses.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "predictor/races/race_finding.h"

namespace reweave {

// Sets of held locks by number; 0 is the empty set.
class LockSets {
 public:
  std::uint32_t with(std::uint32_t set, const LockHeld& lock) {
    std::vector<LockHeld> locks = sets_[set];
    locks.push_back(lock);
    return number_of(locks);
  }
  std::uint32_t without(std::uint32_t set, std::uint32_t lock) {
    std::vector<LockHeld> locks = sets_[set];
    std::erase_if(locks, [lock](const LockHeld& held) { return held.lock == lock; });
    return number_of(locks);
  }
  const std::vector<LockHeld>& operator[](std::uint32_t set) const { return sets_[set]; }

 private:
  std::uint32_t number_of(const std::vector<LockHeld>& locks) {
    std::vector<std::uint64_t> key;
    key.reserve(locks.size());
    for (const LockHeld& lock : locks) key.push_back(std::uint64_t{lock.lock} << 1 | (lock.exclusive ? 1 : 0));
    const auto [it, is_new] = numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(sets_.size()));
    if (is_new) sets_.push_back(locks);
    return it->second;
  }

  std::vector<std::vector<LockHeld>> sets_ = {{}};
  std::map<std::vector<std::uint64_t>, std::uint32_t> numbers_ = {{{}, 0}};
};

}  // namespace reweave
