#include "explorer/campaign/minimise.h"

#include <algorithm>
#include <set>

#include "explorer/campaign/shorter_schedules.h"
#include "explorer/campaign/suspicions.h"
#include "explorer/run/switches.h"

namespace reweave {

namespace {

using Steps = std::vector<ScheduleStep>;

// One minimisation: the simplest failing list so far, its run, and the remaining budget.
class Minimiser {
 public:
  Minimiser(const Runner& run, const RunResult& failing, std::uint64_t budget, const Sameness& same)
      : run_(run), same_(same), failing_(failing), best_(failing), left_(budget) {}

  Minimised search() {
    if (!accept(switches_of(failing_))) return {best_, false};
    reduce_threads();
    reduce(&SwitchList::preemptions);
    reduce(&SwitchList::free);
    replace_by_fewer();
    reduce(&SwitchList::preemptions);
    delay();
    remove_each();
    return {best_, left_ > 0};
  }

 private:
  // Delta debugging (Zeller, Hildebrandt, TSE 2002) over one part of the list. In the end each part is one switch, so
  // no single switch can be left out.
  void reduce(Steps SwitchList::*part) {
    std::size_t parts = 2;
    while (!(list_.*part).empty() && left_ > 0) {
      parts = std::min(parts, (list_.*part).size());
      if (remove_a_part(part, parts)) {
        parts = std::max<std::size_t>(parts - 1, 2);
        continue;
      }
      if (parts >= (list_.*part).size()) break;
      parts *= 2;
    }
  }

  bool remove_a_part(Steps SwitchList::*part, std::size_t parts) {
    const Steps& steps = list_.*part;
    const std::size_t size = (steps.size() + parts - 1) / parts;
    for (std::size_t begin = 0; begin < steps.size(); begin += size) {
      SwitchList rest = list_;
      Steps& kept = rest.*part;
      const std::size_t end = std::min(begin + size, kept.size());
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(begin), kept.begin() + static_cast<std::ptrdiff_t>(end));
      if (accept(rest)) return true;
    }
    return false;
  }

  // Tries to remove all switches that a thread takes part in, at once.
  void reduce_threads() {
    std::set<ThreadId> threads;
    for (const ScheduleStep& step : list_.preemptions) threads.insert({step.thread, step.to});
    for (const ThreadId thread : threads) {
      SwitchList rest = list_;
      std::erase_if(rest.preemptions, [=](const ScheduleStep& s) { return s.thread == thread || s.to == thread; });
      if (rest.preemptions.size() < list_.preemptions.size()) accept(rest);
    }
  }

  // Finds what removal cannot: one preemption elsewhere may have the effect of several here. Tries the most suspicious
  // places of an undisturbed run first, then everything nearby.
  void replace_by_fewer() {
    if (list_.preemptions.size() > 1) replace_by_suspicion();
    // Some budget is kept for the remaining steps.
    const std::uint64_t kept = std::min<std::uint64_t>(left_, 200);
    while (list_.preemptions.size() > 1 && left_ > kept) {
      const std::size_t before = list_.preemptions.size();
      for (const SwitchList& shorter : shorter_schedules(best_.observed, list_))
        if (accept(shorter) || left_ <= kept) break;
      if (list_.preemptions.size() >= before) return;
    }
  }

  void replace_by_suspicion() {
    constexpr std::uint64_t kMost = 400;
    RunRequest undisturbed = request_of({});
    undisturbed.inputs = list_.inputs;
    undisturbed.observe = true;
    const Observation plain = run_(undisturbed).observed;
    const std::uint64_t enough = left_ > kMost ? left_ - kMost : 0;
    for (const Suspicion& suspicion : suspicions_of(plain)) {
      if (left_ <= enough || list_.preemptions.size() <= 1) return;
      if (suspicion.schedule.preemptions.size() >= list_.preemptions.size()) continue;
      SwitchList schedule = suspicion.schedule;
      schedule.inputs = list_.inputs;
      accept(schedule);
    }
  }

  // Delays each preemption as far as the failure permits, so that the thread stops right before the operation that
  // matters.
  void delay() {
    for (std::size_t i = 0; i < list_.preemptions.size(); i++)
      for (const SwitchList& later : delayed_schedules(best_.observed, list_, i))
        if (!accept(later)) break;
  }

  void remove_each() {
    for (std::size_t i = 0; i < list_.preemptions.size();) {
      SwitchList rest = list_;
      rest.preemptions.erase(rest.preemptions.begin() + static_cast<std::ptrdiff_t>(i));
      i = accept(rest) ? 0 : i + 1;
    }
  }

  // A hang shows after few points. Any other failure may come later under a simpler schedule.
  std::uint64_t step_limit() const {
    constexpr std::uint64_t kLeast = 100'000;
    return failing_.fair_from != 0 ? kLeast : std::max(failing_.steps * 2, kLeast);
  }

  bool accept(const SwitchList& list) {
    if (left_ == 0) return false;
    left_--;
    RunRequest request = request_of(list);
    request.observe = true;
    request.step_limit = step_limit();
    RunResult run = run_(request);
    if (run.called_off) left_ = 0;
    if (!same_failure(run, failing_)) return false;
    // The first accepted run replaces the one that was found, which need not have been observed. Each later run is
    // compared with the run accepted last.
    if (!best_.observed.empty() && !same_(run, best_)) return false;
    list_.free = list.free;
    list_.inputs = list.inputs;
    list_.preemptions = switches_of(run).preemptions;  // only switches that were made
    best_ = std::move(run);
    return true;
  }

  const Runner& run_;
  const Sameness& same_;
  const RunResult& failing_;
  SwitchList list_;
  RunResult best_;
  std::uint64_t left_;
};

}  // namespace

Minimised minimise(const Runner& run, const RunResult& failing, std::uint64_t budget, const Sameness& same) {
  return Minimiser(run, failing, budget, same).search();
}

}  // namespace reweave
