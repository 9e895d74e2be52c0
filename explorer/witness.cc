#include "explorer/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

bool reads(const WitnessStep& step) { return step.kind == EventKind::kRead || step.kind == EventKind::kAtomicLoad; }

// Its effect is not on the memory at its address alone.
bool concerns_threads(const WitnessStep& step) {
  return step.kind == EventKind::kFork || step.kind == EventKind::kJoin || step.kind == EventKind::kFence;
}

// For each step how many before it must be executed first, and those behind it that wait for it. Between two steps that
// are ordered there is a chain of such edges.
struct PartialOrder {
  std::vector<std::size_t> missing;
  std::vector<std::vector<std::size_t>> later;

  explicit PartialOrder(const WitnessOrder& steps) : missing(steps.size()), later(steps.size()) {
    std::map<ThreadId, std::size_t> last_of;  // by thread
    std::map<std::uint64_t, std::size_t> writer;
    std::map<std::uint64_t, std::vector<std::size_t>> readers;  // since the latest write
    std::optional<std::size_t> wall;
    for (const auto& [thread, last] : last_steps(steps)) walls_.insert(last);
    for (std::size_t i = 0; i < steps.size(); i++) {
      const WitnessStep& step = steps[i];
      std::set<std::size_t> before;
      if (const auto at = last_of.find(step.thread); at != last_of.end()) before.insert(at->second);
      if (const auto at = writer.find(step.address); at != writer.end()) before.insert(at->second);
      if (!reads(step)) before.insert(readers[step.address].begin(), readers[step.address].end());
      if (wall) before.insert(*wall);
      if (concerns_threads(step) || walls_.contains(i)) {
        for (std::size_t k = wall ? *wall : 0; k < i; k++) before.insert(k);
        wall = i;
      }
      for (const std::size_t k : before) later[k].push_back(i);
      missing[i] = before.size();
      last_of[step.thread] = i;
      if (reads(step)) {
        readers[step.address].push_back(i);
      } else {
        writer[step.address] = i;
        readers.erase(step.address);
      }
    }
  }

 private:
  static std::map<ThreadId, std::size_t> last_steps(const WitnessOrder& steps) {
    std::map<ThreadId, std::size_t> last;
    for (std::size_t i = 0; i < steps.size(); i++) last[steps[i].thread] = i;
    return last;
  }
  std::set<std::size_t> walls_;  // the last steps of threads: what the candidate is about
};

// Which thread goes on when the last cannot, or need not.
enum class Preference { kYoungest, kOldest, kAlternate };

WitnessOrder linearize(const WitnessOrder& steps, Preference preference) {
  PartialOrder order(steps);
  std::map<ThreadId, std::set<std::size_t>> ready;  // by thread
  for (std::size_t i = 0; i < steps.size(); i++)
    if (order.missing[i] == 0) ready[steps[i].thread].insert(i);
  WitnessOrder result;
  std::optional<ThreadId> current;
  while (!ready.empty()) {
    auto at = current ? ready.find(*current) : ready.end();
    if (preference == Preference::kAlternate && current) {
      at = ready.upper_bound(*current);
      if (at == ready.end()) at = ready.begin();
    }
    if (at == ready.end()) at = preference == Preference::kYoungest ? std::prev(ready.end()) : ready.begin();
    current = at->first;
    const std::size_t step = *at->second.begin();
    at->second.erase(at->second.begin());
    if (at->second.empty()) ready.erase(at);
    result.push_back(steps[step]);
    for (const std::size_t next : order.later[step])
      if (--order.missing[next] == 0) ready[steps[next].thread].insert(next);
  }
  return result;
}

// The choice of the run that is this step.
std::optional<std::size_t> find_step(const WitnessStep& step, const Observation& run) {
  std::uint64_t occurrence = 0;
  for (std::size_t i = 0; i < run.size(); i++)
    if (run[i].thread == step.thread && run[i].pc == step.pc && !run.resumed(i) && occurrence++ == step.occurrence)
      return i;
  return {};
}

}  // namespace

bool ordered(const WitnessStep& a, const WitnessStep& b) {
  return a.thread == b.thread || concerns_threads(a) || concerns_threads(b) ||
         (a.address == b.address && !(reads(a) && reads(b)));
}

std::vector<WitnessOrder> linearizations(const WitnessOrder& witness, std::size_t most) {
  std::vector<WitnessOrder> orders = {witness};
  for (const Preference preference : {Preference::kOldest, Preference::kYoungest, Preference::kAlternate}) {
    if (orders.size() >= most) break;
    WitnessOrder order = linearize(witness, preference);
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(std::move(order));
  }
  return orders;
}

std::optional<std::vector<ThreadId>> beginning_of(const Candidate& candidate, const Observation& recorded) {
  constexpr std::size_t kTries = 16;
  std::vector<ThreadId> choices;
  if (!needs_beginning(candidate)) return choices;
  WitnessOrder steps = candidate.witness;
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  // Some events of a trace have their point at another place, such as a join's at its system call.
  for (std::size_t i = 0; i < std::min(steps.size(), kTries); i++)
    if (const auto end = find_step(steps[i], recorded)) {
      for (std::size_t k = 0; k < *end; k++) choices.push_back(recorded[k].thread);
      return choices;
    }
  return {};
}

RunRequest witness_request(const std::vector<ThreadId>& beginning, const WitnessOrder& order) {
  const WitnessHeader header = {static_cast<std::uint32_t>(beginning.size()), static_cast<std::uint32_t>(order.size())};
  const std::size_t choice_bytes = (beginning.size() * sizeof(ThreadId) + 7) / 8 * 8;
  RunRequest request;
  request.policy = "witness";
  request.goal.resize(sizeof header + choice_bytes + order.size() * sizeof(WitnessGoal));
  std::byte* at = request.goal.data();
  std::memcpy(at, &header, sizeof header);
  if (!beginning.empty()) std::memcpy(at + sizeof header, beginning.data(), beginning.size() * sizeof(ThreadId));
  at += sizeof header + choice_bytes;
  for (const WitnessStep& step : order) {
    const WitnessGoal goal = {step.pc, step.thread, {}};
    std::memcpy(at, &goal, sizeof goal);
    at += sizeof goal;
  }
  return request;
}

bool was_followed(const RunResult& run, const WitnessOrder& order) {
  return run.witness.next >= order.size() && run.witness.skipped == 0;
}

std::string tell_departure(const RunResult& run, const WitnessOrder& order, Places& places) {
  static constexpr const char* kReasons[] = {"the run ended", "it was not born or had ended", "it had to wait",
                                             "it was elsewhere"};
  const WitnessProgress& progress = run.witness;
  const std::uint64_t step = progress.skipped > 0 ? progress.first_skipped : progress.next;
  if (step >= order.size()) return "";
  const char* reason = kReasons[progress.obstacle < std::size(kReasons) ? progress.obstacle : 0];
  std::string text = fmt::format("left before step {} of {}, where thread {} was to be at {}: {}", step + 1,
                                 order.size(), order[step].thread, places.code(order[step].pc), reason);
  if (progress.skipped > 0) text += fmt::format("; {} steps were left out", progress.skipped);
  return text;
}

}  // namespace reweave
