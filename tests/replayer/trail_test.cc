#define BOOST_TEST_MODULE trail
#include "replayer/live/trail.h"

#include <boost/test/unit_test.hpp>
#include <random>

using namespace reweave;  // NOLINT

namespace {

struct Walk {
  Trail trail{3};
  std::vector<Position> names;
};

// Returns random instructions of a thread at few addresses, so that loops and equal addresses are frequent.
Walk random_walk(std::mt19937& random) {
  Walk walk;
  Progress progress = {100, 7};
  const int count = std::uniform_int_distribution(1, 60)(random);
  for (int i = 0; i < count; i++) {
    if (random() % 5 == 0) progress.step++;
    if (random() % 11 == 0) progress.event++;
    walk.names.push_back(walk.trail.add(progress, 0x400000 + random() % 4));
  }
  return walk;
}

}  // namespace

BOOST_AUTO_TEST_CASE(names_differ_and_each_knows_the_one_before) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; round++) {
    const Walk walk = random_walk(random);
    BOOST_TEST(!walk.trail.before(walk.names[0]).has_value());
    for (std::size_t i = 1; i < walk.names.size(); i++) {
      const auto before = walk.trail.before(walk.names[i]);
      BOOST_REQUIRE(before.has_value());
      BOOST_TEST((*before == walk.names[i - 1]));
      for (std::size_t k = 0; k < i; k++) BOOST_TEST((walk.names[k] != walk.names[i]));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_it_does_not_have_is_unknown) {
  Trail trail(3);
  trail.add({5, 0}, 0x10);
  Position second = trail.add({5, 0}, 0x20);
  Position other = second;
  other.thread = 2;
  BOOST_TEST(!trail.before(other).has_value());
  other = second;
  other.arrival = 2;
  BOOST_TEST(!trail.before(other).has_value());
  other = second;
  other.progress.step = 1;
  BOOST_TEST(!trail.before(other).has_value());
  other = second;
  other.steps = 1;
  BOOST_TEST(!trail.before(other).has_value());
  BOOST_TEST(trail.before(second).has_value());
}

BOOST_AUTO_TEST_CASE(of_a_stretch_that_is_too_long_only_names_are_made) {
  Trail trail(0);
  Position last;
  for (int i = 0; i < 5'000'000; i++) last = trail.add({1, 1}, 0x1000 + static_cast<std::uint64_t>(i % 2));
  BOOST_TEST(last.arrival == 2'500'000u);
  BOOST_TEST(!trail.before(last).has_value());
}
