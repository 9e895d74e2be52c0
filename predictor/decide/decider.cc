#include "predictor/decide/decider.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace reweave {
namespace {

// Events of each thread examined by the quick refutation of an instance.
constexpr std::uint32_t kFirstLook = 64;
// Events before a window that are examined too: reorderings often need the sections just before.
constexpr EventIndex kWindowMargin = 300;
// In traces up to this size, every instance that its window did not decide is examined in the whole trace.
constexpr EventIndex kSmallTrace = 20'000;
// Closures of more events than this are charged to the budget of work.
constexpr std::uint64_t kCheap = 50'000;
// The budget in events, and in multiples of the trace's length; the larger one applies. About a microsecond per event.
constexpr std::uint64_t kWorkEvents = 40'000'000, kWorkTraces = 2;

}  // namespace

Decider::Decider(const TraceModel& model, const MustOrder& order, const Locksets& locksets,
                 std::function<bool()> expired)
    : model_(model),
      locksets_(locksets),
      keeping_(model, order),
      check_(model, order, kFirstLook, expired),
      expired_(std::move(expired)) {}

void Decider::in_parallel(std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  std::vector<std::jthread> others;
  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(processors, count); ++i) others.emplace_back(work);
  work();
}

EventIndex Decider::window_start(const Instance& instance) const {
  EventIndex first = kNone;
  for (EventIndex e : instance.events) first = std::min(first, locksets_.outermost(e));
  return first > kWindowMargin ? first - kWindowMargin : 0;
}

void Decider::accept(Decision& decision, std::size_t instance, const Reordering& witness) const {
  decision.feasible = instance;
  decision.witness = Witness(model_, witness);
}

// Instances whose events are close together come first.
void Decider::sort_instances(Group& group) {
  const auto span = [](const Instance& i) {
    const auto [low, high] = std::minmax_element(i.events.begin(), i.events.end());
    return *high - *low;
  };
  std::stable_sort(group.instances.begin(), group.instances.end(),
                   [&](const Instance& a, const Instance& b) { return span(a) < span(b); });
}

bool Decider::decide_keeping_order(Group& group, Decision& decision) const {
  sort_instances(group);
  auto& instances = group.instances;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    ++decision.checks;
    if (!keeping_.possible(instances[i].query)) continue;
    if (const auto witness = keeping_.witness(instances[i].query)) {
      accept(decision, i, *witness);
      return true;
    }
  }
  return false;
}

void Decider::decide_cheaply(Group& group, Decision& decision, Tasks& left, std::size_t number) const {
  auto& instances = group.instances;
  Tasks tasks;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    decision.undecided = expired_();
    if (decision.undecided) return;
    const EventIndex start = window_start(instances[i]);
    const Task near{number, i, start, check_.cost(instances[i].query, start), 0};
    if (near.cost == 0) continue;
    if (near.cost <= kCheap) {
      decide_by_closure(group, near, decision);
      if (decision.feasible || decision.undecided) return;
      if (start == 0) continue;
    }
    ++decision.checks;
    if (check_.refuted(instances[i].query)) continue;
    if (near.cost > kCheap) tasks.push_back(near);
    const std::size_t round = near.cost > kCheap ? 1 : 0;
    if (start > 0) tasks.push_back({number, i, 0, check_.cost(instances[i].query, 0), round});
  }
  // In a long trace only one instance is worth the expensive check.
  const auto cheaper = [](const Task& a, const Task& b) { return a.cost < b.cost; };
  std::stable_sort(tasks.begin(), tasks.end(), cheaper);
  if (model_.size() > kSmallTrace) {
    std::erase_if(tasks, [kept = tasks.empty() ? 0 : tasks[0].instance](const Task& t) { return t.instance != kept; });
  }
  left = std::move(tasks);
}

void Decider::decide_by_closure(const Group& group, const Task& task, Decision& decision) const {
  ++decision.checks;
  const Verdict verdict = check_.check(group.instances[task.instance].query, task.window_start);
  decision.undecided = verdict.answer == Feasibility::kStopped;
  if (verdict.answer == Feasibility::kFeasible) accept(decision, task.instance, verdict.witness);
}

// The groups whose tasks of a round fit in the budget of work, cheapest first; the others are undecided. Work that an
// earlier run did is charged again, so that the result does not depend on whether there was one.
std::vector<std::size_t> Decider::affordable(std::vector<Tasks>& left, std::vector<Decision>& decisions,
                                             std::size_t round, std::uint64_t& work) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (const Task& task : left[i]) decisions[i].costs[round] += task.round == round ? task.cost : 0;
    if (decisions[i].costs[round] > 0) result.push_back(i);
  }
  std::stable_sort(result.begin(), result.end(),
                   [&](std::size_t a, std::size_t b) { return decisions[a].costs[round] < decisions[b].costs[round]; });
  std::erase_if(result, [&](std::size_t i) {
    const std::uint64_t cost = decisions[i].costs[round];
    if (left[i].empty()) {
      work -= std::min(work, cost);
      return true;
    }
    decisions[i].undecided = cost > work;
    if (!decisions[i].undecided) work -= cost;
    return false;
  });
  return result;
}

void Decider::decide_first(Group& group, std::size_t number, const Options& options, Decision& decision,
                           Tasks& left) const {
  decision.undecided = expired_();
  if (decision.undecided || decide_keeping_order(group, decision) || options.keep_order) return;
  decide_cheaply(group, decision, left, number);
  if (decision.undecided) left.clear();
}

// Runs the tasks of one round; the rest is left for the next.
void Decider::decide_rest(const Group& group, Tasks& tasks, std::size_t round, Decision& decision) const {
  for (const Task& task : tasks) {
    if (task.round != round || decision.undecided || decision.feasible) continue;
    decision.undecided = expired_();
    if (!decision.undecided) decide_by_closure(group, task, decision);
  }
  std::erase_if(tasks, [&](const Task& t) { return t.round == round || decision.undecided || decision.feasible; });
}

std::vector<Decision> Decider::decide(std::vector<Group>& groups, const Options& options) const {
  std::vector<Decision> decisions(groups.size());
  std::vector<Tasks> left(groups.size());
  std::mutex mutex;
  std::size_t decided = 0;
  const auto progress = [&](std::size_t i, bool known) {
    if (!left[i].empty()) return;
    const std::lock_guard lock(mutex);
    ++decided;
    if (options.progress) options.progress(decided);
    if (!known && !decisions[i].undecided && options.decided) options.decided(i, decisions[i]);
  };
  in_parallel(groups.size(), [&](std::size_t i) {
    const Decision* known = options.known ? options.known(i) : nullptr;
    if (known != nullptr) {
      sort_instances(groups[i]);
      decisions[i] = *known;
    } else {
      decide_first(groups[i], i, options, decisions[i], left[i]);
    }
    progress(i, known != nullptr);
  });
  std::uint64_t work = std::max<std::uint64_t>(kWorkEvents, model_.size() * kWorkTraces);
  for (const std::size_t round : {0u, 1u}) {
    const auto order = affordable(left, decisions, round, work);
    in_parallel(order.size(), [&](std::size_t n) {
      decide_rest(groups[order[n]], left[order[n]], round, decisions[order[n]]);
      progress(order[n], false);
    });
  }
  return decisions;
}

}  // namespace reweave
