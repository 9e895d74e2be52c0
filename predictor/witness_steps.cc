#include "predictor/witness_steps.h"

#include <algorithm>
#include <map>

namespace reweave {
namespace {

constexpr std::uint64_t kLeastSteps = 1000;

}  // namespace

bool is_schedule_point(const TraceEvent& event) {
  switch (event.kind) {
    case EventKind::kRead:
    case EventKind::kWrite:
      return (event.aux & kSamePoint) == 0;
    case EventKind::kAtomicLoad:
    case EventKind::kAtomicStore:
    case EventKind::kAtomicRmw:
    case EventKind::kFence:
    case EventKind::kLock:
    case EventKind::kUnlock:
    case EventKind::kWaitBegin:
    case EventKind::kNotify:
    case EventKind::kBarrierEnter:
    case EventKind::kSemPost:
    case EventKind::kSemWait:
    case EventKind::kFork:  // the system call is the point
    case EventKind::kJoin:
    case EventKind::kFree:
      return true;
    default:
      return false;
  }
}

WitnessSteps::WitnessSteps(TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                           Limits limits) {
  limit_ = limits.steps;
  if (!findings.empty()) limit_ = std::min(limit_, std::max(limits.all_steps / findings.size(), kLeastSteps));
  for (const Finding& finding : findings) {
    plans_.push_back(plan(model, finding));
    Plan& made = plans_.back();
    made.first = made.start - std::min(made.start, limit_);
  }
  collect(input);
}

WitnessSteps::Plan WitnessSteps::plan(const TraceModel& model, const Finding& finding) {
  Plan result;
  std::map<ThreadId, std::uint64_t> stops;
  for (EventIndex e : finding.query.stops) stops[model.thread[e]] = model.source[e];
  const auto tail = finding.witness.tail(model);
  // What of the tail goes on in the trace's order belongs to its start.
  EventIndex in_order = finding.witness.prefix();
  std::size_t next = 0;
  while (next < tail.size() && tail[next] == in_order) ++next, ++in_order;
  // Requests that were never granted come last in the model, wherever they are in the trace.
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

void WitnessSteps::collect(TraceInput& input) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted;
  for (const Plan& plan : plans_) wanted.emplace_back(plan.first, plan.end);
  std::sort(wanted.begin(), wanted.end());
  std::uint64_t end = 0;
  for (auto& [from, to] : wanted) to = end = std::max(end, to);  // now each ends behind all that start before it

  std::vector<std::uint64_t> firsts;
  for (const auto& [from, to] : wanted) firsts.push_back(from);
  std::vector<std::uint64_t> before(wanted.size(), 0);
  std::vector<std::vector<std::uint32_t>> seen;  // by thread and site
  std::uint64_t points = 0;
  std::size_t next = 0;    // the first of `wanted` not yet reached
  std::uint64_t main = 0;  // runs begin there: the number of the event
  input.each(end, [&](std::uint64_t number, const TraceEvent& event, std::uint32_t site) {
    for (; next < wanted.size() && wanted[next].first <= number; ++next) before[next] = points;
    if (event.kind == EventKind::kCall && event.aux == kEntersMain) {
      main = number;
      points = 0;
      seen.clear();
      steps_.clear();
      of_thread_.clear();
      std::fill(before.begin(), before.end(), 0);
    }
    if (!is_schedule_point(event)) return;
    ++points;
    if (event.thread >= seen.size()) seen.resize(event.thread + std::size_t{1});
    auto& counts = seen[event.thread];
    if (site >= counts.size()) counts.resize(site + std::size_t{1});
    const std::uint32_t occurrence = counts[site]++;
    if (next == 0 || number >= wanted[next - 1].second) return;
    if (event.thread >= of_thread_.size()) of_thread_.resize(event.thread + std::size_t{1});
    of_thread_[event.thread].push_back(static_cast<std::uint32_t>(steps_.size()));
    steps_.push_back({event.address, static_cast<std::uint32_t>(number), site, occurrence, event.thread, event.kind});
  });
  for (; next < wanted.size(); ++next) before[next] = points;
  for (const Plan& plan : plans_) {
    const auto place = std::lower_bound(firsts.begin(), firsts.end(), plan.first);
    before_.push_back(before[static_cast<std::size_t>(place - firsts.begin())]);
  }
  for (Plan& plan : plans_) plan.first = std::max(plan.first, std::min(main, plan.start));
}

WitnessStep WitnessSteps::step(const Step& from) const {
  return {from.thread, from.number, from.kind, from.address, from.site, 0, from.occurrence};
}

void WitnessSteps::fill(std::size_t index, Candidate& candidate) const {
  const Plan& plan = plans_[index];
  const auto below = [&](std::uint32_t i, std::uint64_t number) { return steps_[i].number < number; };
  const auto at = [&](std::uint64_t number) {
    return std::partition_point(steps_.begin(), steps_.end(), [&](const Step& s) { return s.number < number; });
  };
  auto& witness = candidate.witness;
  candidate.skipped_events = plan.first;
  candidate.skipped_steps = before_[index];
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
  // Leave out of the start what the trace tells; if that is not enough, cut.
  const std::uint64_t excess = witness.size() - limit_;
  const auto in_order = static_cast<std::uint64_t>(at(plan.start) - at(plan.first));
  candidate.cut = excess > in_order;
  candidate.skipped_steps += excess;
  candidate.skipped_events = excess < in_order ? witness[excess].index : plan.start;
  if (candidate.cut) candidate.turns = turns(std::span(witness).subspan(in_order), excess - in_order);
  witness.erase(witness.begin(), witness.begin() + static_cast<std::ptrdiff_t>(excess));
}

std::vector<WitnessStep> WitnessSteps::turns(std::span<const WitnessStep> steps, std::uint64_t cut) const {
  // A join's place in a run is not its place in the trace.
  const auto later = [](const WitnessStep& a, const WitnessStep& b) {
    return std::pair(a.kind == EventKind::kJoin, a.index) < std::pair(b.kind == EventKind::kJoin, b.index);
  };
  std::vector<WitnessStep> result = {*std::min_element(steps.begin(), steps.end(), later)};
  for (std::uint64_t i = 0; i < cut; ++i)
    if (i + 1 == cut || steps[i + 1].thread != steps[i].thread) result.push_back(steps[i]);
  if (result.size() > limit_) result.clear();
  return result;
}

}  // namespace reweave
