// Limits a list such that each kind of entry keeps its share. If a limit cut off the end of the list, entries of rare
// kinds might all be lost, for example the only reader among many equal writers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

namespace reweave {

// Returns the indices of at most `most` of the kinds, in rising order: the first of each kind, then the second of each
// kind, and so on.
template <typename Kind>
std::vector<std::size_t> fair_share(const std::vector<Kind>& kinds, std::size_t most) {
  std::vector<std::size_t> kept(kinds.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (kinds.size() <= most) return kept;
  std::map<Kind, std::size_t> seen;
  std::vector<std::size_t> rank;  // how many of the same kind come before
  rank.reserve(kinds.size());
  for (const Kind& kind : kinds) rank.push_back(seen[kind]++);
  std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
  kept.resize(most);
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace reweave
