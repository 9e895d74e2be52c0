#include "predictor/witness/witness_steps.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace reweave {
namespace {

constexpr std::uint64_t kLeastSteps = 1000;

// The current turn of a thread.
class TurnCounter {
 public:
  bool is_of(ThreadId thread) const { return thread_ == thread; }
  void begin(ThreadId thread) {
    thread_ = thread;
    counts_.clear();
    last_ = nullptr;
  }
  void count(std::uint32_t site) {
    last_ = &*counts_.try_emplace(site, 0).first;
    ++last_->second;
  }
  // The result has no arrivals if no event could end a turn.
  template <typename PcOf>
  WitnessTurn turn(const PcOf& pc_of) const {
    if (last_ == nullptr) return {thread_, 0, 0};
    return {thread_, pc_of(last_->first), last_->second};
  }

 private:
  ThreadId thread_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> counts_;  // by site
  std::pair<const std::uint32_t, std::uint64_t>* last_ = nullptr;
};

}  // namespace

WitnessSteps::WitnessSteps(TraceInput& input, const TraceModel& model, std::span<const Finding> findings, Limits limits)
    : input_(input) {
  limit_ = limits.steps;
  if (!findings.empty()) limit_ = std::min(limit_, std::max(limits.all_steps / findings.size(), kLeastSteps));
  for (const Finding& finding : findings) {
    plans_.push_back(plan(model, finding));
    Plan& made = plans_.back();
    made.first = made.start - std::min(made.start, limit_);
  }
  collect();
}

WitnessSteps::Plan WitnessSteps::plan(const TraceModel& model, const Finding& finding) {
  Plan result;
  std::map<ThreadId, std::uint64_t> stops;
  for (EventIndex e : finding.query.stops) stops[model.thread[e]] = model.source[e];
  const auto tail = finding.witness.tail(model);
  // Events of the tail that continue the trace's order belong to the prefix.
  EventIndex in_order = finding.witness.prefix();
  std::size_t next = 0;
  while (next < tail.size() && tail[next] == in_order) ++next, ++in_order;
  // Requests that were never granted come last in the model, regardless of their place in the trace.
  for (EventIndex e = in_order; e-- > 0;) {
    result.start = std::max<std::uint64_t>(result.start, model.source[e] + std::uint64_t{1});
    if (model.op[e] != Op::kRequest) break;
  }
  if (in_order < model.size()) result.start = std::max<std::uint64_t>(result.start, model.source[in_order]);
  for (const auto& [thread, number] : stops) result.start = std::min(result.start, number);
  const auto turn = [&](ThreadId thread, std::uint64_t end) {
    if (result.turns.empty() || result.turns.back().thread != thread) result.turns.push_back({thread, end});
    result.turns.back().end = end;
    result.end = std::max(result.end, end);
  };
  for (; next < tail.size(); ++next) {
    const ThreadId thread = model.thread[tail[next]];
    const std::uint64_t end = model.source[tail[next]] + std::uint64_t{1};
    const auto stop = stops.find(thread);
    turn(thread, stop == stops.end() ? end : std::min(end, stop->second));
  }
  for (const auto& [thread, number] : stops) turn(thread, number);
  if (finding.kind != FindingKind::kDeadlock) {
    for (EventIndex e : finding.query.stops) turn(model.thread[e], model.source[e] + std::uint64_t{1});
  }
  result.end = std::max(result.end, result.start);
  return result;
}

void WitnessSteps::collect() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted;
  for (const Plan& plan : plans_) wanted.emplace_back(plan.first, plan.end);
  std::sort(wanted.begin(), wanted.end());
  std::uint64_t end = 0;
  for (auto& [from, to] : wanted) to = end = std::max(end, to);  // now none ends before one that starts earlier
  for (const auto& [from, to] : wanted) beginnings_.push_back({from});

  const auto pc = [this](std::uint32_t site) { return pc_of(site); };
  TurnCounter turn;
  std::size_t next = 0;    // the first of `wanted` not yet reached
  std::uint64_t main = 0;  // number of the event that enters main, where runs begin
  input_.each(end, [&](std::uint64_t number, const TraceEvent& event, std::uint32_t site) {
    for (; next < wanted.size() && wanted[next].first <= number; ++next)
      beginnings_[next] = {wanted[next].first, turns_.size(), turn.turn(pc)};
    if (event.kind == EventKind::kCall && event.aux == kEntersMain) {
      main = number;
      turn.begin(event.thread);
      turns_.clear();
      steps_.clear();
      of_thread_.clear();
      for (Beginning& beginning : beginnings_) beginning = {beginning.number};
    }
    if (!is_schedule_point(event)) return;
    if (!turn.is_of(event.thread)) {
      if (const WitnessTurn made = turn.turn(pc); made.arrivals > 0) turns_.push_back(made);
      turn.begin(event.thread);
    }
    if (event.kind != EventKind::kJoin) turn.count(site);
    if (next == 0 || number >= wanted[next - 1].second) return;
    if (event.thread >= of_thread_.size()) of_thread_.resize(event.thread + std::size_t{1});
    of_thread_[event.thread].push_back(static_cast<std::uint32_t>(steps_.size()));
    steps_.push_back({event.address, static_cast<std::uint32_t>(number), site, event.thread, event.kind});
  });
  for (; next < wanted.size(); ++next) beginnings_[next] = {wanted[next].first, turns_.size(), turn.turn(pc)};
  for (Plan& plan : plans_) plan.start = std::max(plan.start, main);
}

std::uint64_t WitnessSteps::pc_of(std::uint32_t site) const {
  return input_.reader() == nullptr ? site : input_.reader()->pc_of(site);
}

WitnessStep WitnessSteps::step(const Step& from) const {
  return {from.thread, from.number, from.kind, from.address, pc_of(from.site)};
}

void WitnessSteps::fill(std::size_t index, Candidate& candidate) const {
  const Plan& plan = plans_[index];
  const auto below = [&](std::uint32_t i, std::uint64_t number) { return steps_[i].number < number; };
  const auto at = [&](std::uint64_t number) {
    return std::partition_point(steps_.begin(), steps_.end(), [&](const Step& s) { return s.number < number; });
  };
  const auto beginning = std::lower_bound(beginnings_.begin(), beginnings_.end(), plan.first,
                                          [](const Beginning& b, std::uint64_t number) { return b.number < number; });
  candidate.beginning.assign(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(beginning->whole));
  if (beginning->last.arrivals > 0) candidate.beginning.push_back(beginning->last);
  auto& witness = candidate.witness;
  for (auto it = at(plan.first), end = at(plan.start); it != end; ++it) witness.push_back(step(*it));
  std::map<ThreadId, std::vector<std::uint32_t>::const_iterator> cursors;
  for (const Turn& turn : plan.turns) {
    if (turn.thread >= of_thread_.size()) continue;
    const auto& mine = of_thread_[turn.thread];
    auto [cursor, fresh] = cursors.try_emplace(turn.thread, mine.begin());
    if (fresh) cursor->second = std::lower_bound(mine.begin(), mine.end(), plan.start, below);
    for (auto& it = cursor->second; it != mine.end() && steps_[*it].number < turn.end; ++it) {
      witness.push_back(step(steps_[*it]));
    }
  }
  if (witness.size() <= limit_) return;
  const auto kept = witness.end() - static_cast<std::ptrdiff_t>(limit_);
  for (const WitnessTurn& turn : turns_of(std::span(witness.begin(), kept))) candidate.beginning.push_back(turn);
  witness.erase(witness.begin(), kept);
}

}  // namespace reweave
