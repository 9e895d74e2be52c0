// Each kind of entry keeps its share under a limit.
#define BOOST_TEST_MODULE predictor_fair_share
#include "predictor/model/fair_share.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <vector>

namespace reweave {
namespace {

using Kinds = std::vector<int>;

// Returns the indices kept by the definition: all entries sorted by their rank among those of the same kind.
std::vector<std::size_t> defined(const Kinds& kinds, std::size_t most) {
  std::map<int, std::size_t> seen;
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // rank, index
  for (std::size_t i = 0; i < kinds.size(); ++i) ranked.emplace_back(seen[kinds[i]]++, i);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) kept.push_back(ranked[i].second);
  std::sort(kept.begin(), kept.end());
  return kept;
}

std::vector<std::size_t> taken(const Kinds& kinds, std::size_t most) {
  FairShare<int> share(most);
  for (const int kind : kinds) share.count(kind);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (share.takes(kinds[i])) kept.push_back(i);
  BOOST_TEST(share.left_out() == kinds.size() - kept.size());
  return kept;
}

BOOST_AUTO_TEST_CASE(as_defined) {
  std::mt19937_64 random(20261129);
  for (int round = 0; round < 1000; ++round) {
    Kinds kinds(random() % 30);
    for (int& kind : kinds) kind = static_cast<int>(random() % (1 + round % 7));
    const std::size_t most = random() % 35;
    BOOST_TEST(taken(kinds, most) == defined(kinds, most), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_rare_kind_at_the_end_is_kept) {
  Kinds kinds(100, 1);
  kinds.push_back(2);
  const std::vector<std::size_t> kept = taken(kinds, 10);
  BOOST_TEST(kept.size() == 10u);
  BOOST_TEST(kept.back() == 100u);
}

}  // namespace
}  // namespace reweave
