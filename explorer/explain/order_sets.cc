#include "explorer/explain/order_sets.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "explorer/explain/flips.h"

namespace reweave {

void Reorderings::learn(const RunResult& passing) {
  constexpr std::size_t kMostEvents = 1'000'000;  // some 100 MB
  const std::vector<Event> events = events_of(passing.observed);
  if (runs_.size() == kMostRuns || events.empty() || events_ + events.size() > kMostEvents) return;
  events_ += events.size();
  for (const EventPair& pair : reordered(failing_, events)) pairs_.emplace(pair.names(), pair);
  runs_.push_back(positions_of(events));
}

// The runs that execute both events in the other order.
Reorderings::Runs Reorderings::reordering(const EventPair& pair) const {
  Runs runs;
  for (std::size_t i = 0; i < runs_.size(); i++) {
    const auto first = runs_[i].find(pair.first.name), then = runs_[i].find(pair.then.name);
    runs.set(i, first != runs_[i].end() && then != runs_[i].end() && then->second < first->second);
  }
  return runs;
}

namespace {

std::size_t distance(const EventPair& pair) { return pair.then.choice - pair.first.choice; }

// 0 for accesses, 1 for synchronisation, 2 for locks.
int obscurity(const Event& event) {
  if (kind_of(event.note) == OpKind::kLock) return 2;
  return is_sync(event.note) ? 1 : 0;
}

// True if `a` shows the cause better than `b`: events that the failing run reached better than others, which cannot be
// waited for; accesses better than synchronisation; near events better than distant ones.
bool is_clearer(const EventPair& a, const EventPair& b) {
  const auto key = [](const EventPair& pair) {
    return std::tuple(pair.then.is_beyond, std::max(obscurity(pair.first), obscurity(pair.then)), distance(pair),
                      pair.names());
  };
  return key(a) < key(b);
}

}  // namespace

std::vector<Reorderings::Group> Reorderings::groups() const {
  std::unordered_map<Runs, Group> by_runs;
  for (const auto& [names, pair] : pairs_) {
    const Runs runs = reordering(pair);
    const auto [at, added] = by_runs.try_emplace(runs, Group{pair, runs});
    if (!added && is_clearer(pair, at->second.pair)) at->second.pair = pair;
  }
  std::vector<Group> list;
  for (const auto& [runs, group] : by_runs) list.push_back(group);
  std::ranges::stable_sort(list, [](const Group& a, const Group& b) {
    if (a.runs.count() != b.runs.count()) return a.runs.count() > b.runs.count();
    return is_clearer(a.pair, b.pair);
  });
  return list;
}

// Repeatedly adds the pair that most of the remaining runs reorder, until almost no run is left. Empty if three pairs
// do not suffice.
std::vector<EventPair> Reorderings::cover_from(const std::vector<Group>& groups, const Group& first) const {
  constexpr std::size_t kFewOf = 20;  // up to 1 / kFewOf of the runs may reorder none of the pairs
  std::vector<EventPair> cover = {first.pair};
  Runs rest;
  for (std::size_t i = 0; i < runs_.size(); i++) rest.set(i, !first.runs.test(i));
  while (rest.count() > runs_.size() / kFewOf) {
    if (cover.size() == kMostOrders) return {};
    const auto best =
        std::ranges::max_element(groups, {}, [&](const Group& group) { return (group.runs & rest).count(); });
    if ((best->runs & rest).none()) return {};
    cover.push_back(best->pair);
    rest &= ~best->runs;
  }
  return cover;
}

std::vector<std::vector<EventPair>> Reorderings::covers(std::size_t most) const {
  constexpr std::size_t kLeastRuns = 5;
  std::vector<std::vector<EventPair>> found;
  if (runs_.size() < kLeastRuns) return found;
  const std::vector<Group> all = groups();
  std::set<std::set<std::pair<Arrival, Arrival>>> known;
  for (std::size_t i = 0; i < all.size() && found.size() < most; i++) {
    std::vector<EventPair> cover = cover_from(all, all[i]);
    std::set<std::pair<Arrival, Arrival>> names;
    for (const EventPair& pair : cover) names.insert(pair.names());
    if (!cover.empty() && known.insert(names).second) found.push_back(std::move(cover));
  }
  return found;
}

namespace {

// Sets of orders are often not feasible in a random schedule, for example if threads take over each other's roles.
constexpr std::uint64_t kLeastTried = 10;

std::vector<EventPair> with_one_reversed(std::vector<EventPair> pairs, std::size_t index) {
  std::swap(pairs[index].first, pairs[index].then);
  return pairs;
}

// True if runs fail as often with only the other pairs. `broken`: the rate with this pair reversed and the others in
// order. If that is not feasible, the others alone are tried.
bool is_idle(Laboratory& laboratory, std::vector<EventPair> pairs, std::size_t index, const OrderSet& set,
             const Rate& broken) {
  if (broken.tried != 0) return !fails_more(set.forced, broken);
  pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(index));
  const Rate without = rate_with(laboratory, pairs);
  return without.tried >= kLeastTried && !fails_more(set.forced, without);
}

// Leaves out each pair that is not needed. Returns nullopt if fewer than two pairs are left.
std::optional<OrderSet> try_set(Laboratory& laboratory, std::vector<EventPair> pairs, const Rate& base) {
  while (pairs.size() > 1) {
    OrderSet set;
    set.forced = rate_with(laboratory, pairs);
    if (set.forced.tried < kLeastTried || !fails_more(set.forced, base)) return {};
    for (std::size_t i = 0; i < pairs.size(); i++)
      set.members.push_back({pairs[i], rate_with(laboratory, with_one_reversed(pairs, i))});
    std::size_t idle = 0;
    while (idle < pairs.size() && !is_idle(laboratory, pairs, idle, set, set.members[idle].broken)) idle++;
    if (laboratory.time_is_up()) return {};
    if (idle == pairs.size()) return set;
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(idle));
  }
  return {};
}

}  // namespace

std::optional<OrderSet> find_order_set(Laboratory& laboratory, const std::vector<std::vector<EventPair>>& covers,
                                       const Rate& base) {
  for (const std::vector<EventPair>& cover : covers) {
    if (laboratory.time_is_up()) return {};
    if (std::optional<OrderSet> set = try_set(laboratory, cover, base)) {
      std::ranges::stable_sort(set->members, {},
                               [](const OrderSet::Member& member) { return member.pair.first.choice; });
      return set;
    }
  }
  return {};
}

}  // namespace reweave
