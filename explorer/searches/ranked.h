// The part of the ranked search that tests use.
#pragma once

#include <cstdint>

#include "explorer/searches/search.h"

namespace reweave {

// Lemma 4.1: this many random permutations of `fragments` show every order of every `bound` of them with probability 1
// - miss_probability. One order of one subset is in a permutation with probability 1/t!, and there are fewer than n^t
// ordered subsets (t = bound).
std::uint64_t permutations_needed(std::uint32_t fragments, std::uint32_t bound, double miss_probability);

}  // namespace reweave
