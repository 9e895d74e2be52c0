#include "predictor/decider.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace reweave {
namespace {

// Events before a window that are looked at, too: reorderings often need the sections just before.
constexpr EventIndex kWindowMargin = 300;
// In traces up to this size every instance that its window did not decide is looked at in the whole trace.
constexpr EventIndex kSmallTrace = 20'000;
// Closures of more events than this are bought from the budget of work.
constexpr std::uint64_t kCheap = 50'000;
// The budget in events, and in lengths of the trace, whichever is more. About a microsecond an event.
constexpr std::uint64_t kWorkEvents = 40'000'000, kWorkTraces = 2;

}  // namespace

Decider::Decider(const TraceModel& model, const MustOrder& order, const Locksets& locksets,
                 std::function<bool()> expired)
    : model_(model), locksets_(locksets), keeping_(model, order), check_(model, order), expired_(std::move(expired)) {}

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

// Near ones first.
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

void Decider::decide_cheaply(Group& group, Decision& decision, std::vector<Task>& left, std::size_t number) const {
  auto& instances = group.instances;
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    decision.undecided = expired_();
    if (decision.undecided) return;
    const EventIndex start = window_start(instances[i]);
    const Task near{number, i, start, check_.cost(instances[i].query, start)};
    if (near.cost == 0) continue;
    if (near.cost <= kCheap) {
      decide_by_closure(group, near, decision);
      if (decision.feasible) return;
      if (start == 0) continue;
    }
    ++decision.checks;
    if (check_.refuted(instances[i].query)) continue;
    if (near.cost > kCheap) tasks.push_back(near);
    if (start > 0) tasks.push_back({number, i, 0, check_.cost(instances[i].query, 0)});
  }
  // In a long trace only one instance is worth the long look.
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.cost < b.cost; });
  if (model_.size() > kSmallTrace && tasks.size() > 1) tasks.erase(tasks.begin() + 1, tasks.end());
  left.insert(left.end(), tasks.begin(), tasks.end());
}

void Decider::decide_by_closure(const Group& group, const Task& task, Decision& decision) const {
  ++decision.checks;
  const Verdict verdict = check_.check(group.instances[task.instance].query, task.window_start);
  if (verdict.answer == Feasibility::kFeasible) accept(decision, task.instance, verdict.witness);
}

// The groups whose tasks the budget of work buys, cheapest first; the others are undecided. What an earlier run bought
// is paid for again, so that it makes no difference that there was one.
std::vector<std::size_t> Decider::affordable(std::vector<std::vector<Task>>& left,
                                             std::vector<Decision>& decisions) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool had_tasks = !left[i].empty();
    for (const Task& task : left[i]) decisions[i].cost += task.cost;
    if (had_tasks || decisions[i].cost > 0) result.push_back(i);
  }
  std::stable_sort(result.begin(), result.end(),
                   [&](std::size_t a, std::size_t b) { return decisions[a].cost < decisions[b].cost; });
  std::uint64_t work = std::max<std::uint64_t>(kWorkEvents, model_.size() * kWorkTraces);
  std::erase_if(result, [&](std::size_t i) {
    if (left[i].empty()) {
      work -= std::min(work, decisions[i].cost);
      return true;
    }
    decisions[i].undecided = decisions[i].cost > work;
    if (!decisions[i].undecided) work -= decisions[i].cost;
    return decisions[i].undecided;
  });
  return result;
}

void Decider::decide_first(Group& group, std::size_t number, const Options& options, Decision& decision,
                           std::vector<Task>& left) const {
  decision.undecided = expired_();
  if (decision.undecided || decide_keeping_order(group, decision) || options.keep_order) return;
  decide_cheaply(group, decision, left, number);
}

void Decider::decide_rest(const Group& group, const std::vector<Task>& tasks, Decision& decision) const {
  for (const Task& task : tasks) {
    decision.undecided = expired_();
    if (decision.undecided || decision.feasible) return;
    decide_by_closure(group, task, decision);
  }
}

std::vector<Decision> Decider::decide(std::vector<Group>& groups, const Options& options) const {
  std::vector<Decision> decisions(groups.size());
  std::vector<std::vector<Task>> left(groups.size());
  std::mutex mutex;
  std::size_t decided = 0;
  const auto progress = [&](std::size_t i, bool known) {
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
    if (left[i].empty() || decisions[i].undecided) {
      left[i].clear();
      progress(i, known != nullptr);
    }
  });
  const auto order = affordable(left, decisions);
  in_parallel(order.size(), [&](std::size_t n) {
    decide_rest(groups[order[n]], left[order[n]], decisions[order[n]]);
    progress(order[n], false);
  });
  return decisions;
}

}  // namespace reweave
