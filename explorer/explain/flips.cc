#include "explorer/explain/flips.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace reweave {

std::optional<std::size_t> Explanation::inevitable() const {
  std::size_t from = curve.size();
  while (from > 0 && curve[from - 1].rate.always()) from--;
  if (from == curve.size()) return {};
  return from;
}

Rate Explanation::near() const {
  Rate sum;
  for (const CurvePoint& point : curve) sum += point.rate;
  return sum;
}

namespace {

// Makes `first` come before `then`. The thread of `then` is held before it takes the locks that it holds at `then`. If
// it took them no later than `behind`, an event that it must execute first, it is held only before `then` itself.
OrderGoal in_order(const Event& first, const Event& then, const Event* behind = nullptr) {
  const bool holds_already = behind != nullptr && then.entry_choice() <= behind->choice;
  return {first.name, holds_already ? then.name : then.entry()};
}

// The rate of failures in the failing schedule with the pair reversed: once with the rest of the schedule unchanged,
// then with other endings. The endings have no preemptions, so that only the pair makes a difference.
Rate reversed_rate(Laboratory& laboratory, const RunResult& failing, const EventPair& pair) {
  Guide guide;
  guide.switches = switches_of(failing);
  guide.orders = {in_order(pair.then, pair.first)};
  guide.continuation = "calm";
  Rate rate = laboratory.rate(guide, 1, 1);
  guide.choices = static_cast<std::uint32_t>(pair.first.entry_choice());
  rate += laboratory.rate(guide, kFlipRuns - 1, 1);
  return rate;
}

Rate random_rate(Laboratory& laboratory, std::vector<OrderGoal> orders, std::uint64_t runs = 2 * kFlipRuns,
                 std::uint64_t seed = 1) {
  return laboratory.rate(at_random(std::move(orders)), runs, seed);
}

std::vector<OrderGoal> orders_of(const BrokenBlock& block) {
  return {in_order(block.begin, block.between), in_order(block.between, block.end, &block.begin)};
}

}  // namespace

Rate rate_with(Laboratory& laboratory, const std::vector<EventPair>& pairs) {
  // Returns the latest event in `pairs` that the thread of `then` executes before `then`. The thread can be held only
  // after that event.
  const auto latest_before = [&](const Event& then) {
    const Event* latest = nullptr;
    for (const EventPair& pair : pairs)
      for (const Event* event : {&pair.first, &pair.then})
        if (event->name.thread == then.name.thread && event->choice < then.choice &&
            (latest == nullptr || latest->choice < event->choice))
          latest = event;
    return latest;
  };
  std::vector<OrderGoal> orders;
  for (const EventPair& pair : pairs) orders.push_back(in_order(pair.first, pair.then, latest_before(pair.then)));
  return random_rate(laboratory, std::move(orders));
}

Flip try_flip(Laboratory& laboratory, const RunResult& failing, const EventPair& pair,
              const std::vector<BrokenBlock>& blocks) {
  Flip flip;
  flip.pair = pair;
  flip.reversed = reversed_rate(laboratory, failing, pair);
  flip.forced = random_rate(laboratory, {in_order(pair.first, pair.then)});
  flip.avoided = random_rate(laboratory, {in_order(pair.then, pair.first)});
  for (const BrokenBlock& block : blocks) {
    const Rate forced = random_rate(laboratory, orders_of(block));
    if (!flip.block) flip.block = block;
    if (forced.tried == 0 || forced.share() < flip.forced.share()) continue;
    flip.block = block;
    flip.block_tells = true;
    flip.forced = forced;
  }
  return flip;
}

void measure_more(Laboratory& laboratory, Flip& flip, const Rate& base) {
  constexpr std::uint64_t kMore = 6 * kFlipRuns, kSeed = 2 * kFlipRuns + 1;
  if (!flip.is_necessary() || flip.is_measured(base) || flip.forced.failed == 0) return;
  const EventPair& pair = flip.pair;
  flip.forced +=
      random_rate(laboratory, flip.block_tells ? orders_of(*flip.block) : std::vector{in_order(pair.first, pair.then)},
                  kMore, kSeed);
  if (flip.avoided.tried != 0) flip.avoided += random_rate(laboratory, {in_order(pair.then, pair.first)}, kMore, kSeed);
}

namespace {

// True if the run is deadlocked and one of its threads waits for a lock.
bool waits_for_lock(const RunResult& run) {
  if (run.outcome != wire::OutcomeKind::kDeadlock) return false;
  std::map<ThreadId, OpKind> last;
  for (std::size_t i = 0; i < run.observed.size(); i++) last[run.observed[i].thread] = kind_of(run.observed[i]);
  return std::ranges::any_of(last, [](const auto& entry) { return entry.second == OpKind::kLock; });
}

}  // namespace

namespace {

// Ranks the evidence; 0 is the strongest. The weakest is an order without which the failing schedule still fails,
// because it did not cause that failure.
int weakness(const Flip& flip, const Rate& base) {
  if (flip.reversed.always()) return 4;
  if (flip.is_measured(base)) return flip.is_necessary() ? 0 : 1;
  return flip.is_necessary() ? 2 : 3;
}

}  // namespace

void rank_flips(std::vector<Flip>& flips, const RunResult& failing, const Rate& base) {
  const bool locks_first = waits_for_lock(failing);
  const auto key = [&](const Flip& flip) {
    const double gain = flip.forced.share() - flip.avoided.share();
    return std::tuple(!is_release_before_use(flip, failing), weakness(flip, base), -gain,
                      is_sync(flip.pair.then.note) != locks_first, !flip.block_tells,
                      -static_cast<double>(flip.pair.then.choice));
  };
  std::ranges::stable_sort(flips, {}, key);
}

namespace {

// The most informative choices: those at the pairs' events and at preemptions, then some at equal distances.
std::set<std::size_t> curve_choices(const Observation& run, const std::vector<EventPair>& pairs, std::size_t points) {
  std::set<std::size_t> choices = {0, run.size()};
  const auto add = [&](std::size_t choice) {
    if (choices.size() < points && choice <= run.size()) choices.insert(choice);
  };
  for (const EventPair& pair : pairs)
    for (const std::size_t choice : {pair.first.choice, pair.then.choice}) add(choice), add(choice + 1);
  for (std::size_t i = run.size(); i-- > 0;)
    if (run.preempted(i)) add(i), add(i + 1);
  for (std::size_t i = 1; i <= points && run.size() > 0; i++) add(run.size() * i / (points + 1));
  return choices;
}

}  // namespace

std::vector<CurvePoint> failure_curve(Laboratory& laboratory, const RunResult& failing,
                                      const std::vector<EventPair>& pairs, std::size_t points, std::uint64_t runs) {
  std::vector<CurvePoint> curve;
  Guide guide;
  guide.switches = switches_of(failing);
  for (const std::size_t choice : curve_choices(failing.observed, pairs, points)) {
    guide.choices = static_cast<std::uint32_t>(choice);
    const Rate rate = laboratory.rate(guide, runs, 1);
    if (laboratory.time_is_up()) break;
    curve.push_back({choice, rate});
  }
  return curve;
}

}  // namespace reweave
