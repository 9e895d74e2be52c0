#include "explorer/campaign/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "explorer/strategies/goals.h"
#include "formats/base/counted.h"

namespace reweave {

namespace {

bool reads(const WitnessStep& step) { return step.kind == EventKind::kRead || step.kind == EventKind::kAtomicLoad; }

// True if the step affects more than the memory at its address.
bool concerns_threads(const WitnessStep& step) {
  return step.kind == EventKind::kFork || step.kind == EventKind::kJoin || step.kind == EventKind::kFence;
}

// For each step, the number of earlier steps it waits for directly, and the later steps that wait for it. Two ordered
// steps are connected by a chain of such edges.
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
  std::set<std::size_t> walls_;  // the last steps of threads, which make up the candidate
};

// The thread that continues when the last one cannot or, with kAlternate, after each step.
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

std::vector<WitnessTurn> turns_along(const Candidate& candidate, const WitnessOrder& order) {
  std::vector<WitnessTurn> turns = candidate.beginning;
  const std::vector<WitnessTurn> rest = turns_of(order);
  turns.insert(turns.end(), rest.begin(), rest.end());
  return turns;
}

RunRequest witness_request(const std::vector<WitnessTurn>& turns) {
  RunRequest request;
  request.policy = "witness";
  request.goal.resize(turns.size() * sizeof(TurnGoal));
  std::byte* at = request.goal.data();
  for (const WitnessTurn& turn : turns) {
    const TurnGoal goal = {turn.pc, static_cast<std::uint32_t>(turn.arrivals), turn.thread, 0};
    std::memcpy(at, &goal, sizeof goal);
    at += sizeof goal;
  }
  return request;
}

bool was_followed(const RunResult& run, const std::vector<WitnessTurn>& turns) {
  return run.witness.next >= turns.size() && run.witness.skipped == 0;
}

std::string tell_departure(const RunResult& run, const std::vector<WitnessTurn>& turns, Places& places) {
  static constexpr const char* kReasons[] = {"the run ended", "it had not started or had ended", "it had to wait",
                                             "it did not come there"};
  const WitnessProgress& progress = run.witness;
  const std::uint64_t turn = progress.skipped > 0 ? progress.first_skipped : progress.next;
  if (turn >= turns.size()) return "";
  const char* reason = kReasons[progress.obstacle < std::size(kReasons) ? progress.obstacle : 0];
  std::string text = fmt::format("left in turn {} of {}, in which thread {} should have reached {}: {}", turn + 1,
                                 turns.size(), turns[turn].thread, places.code(turns[turn].pc), reason);
  if (progress.skipped > 0) text += "; " + counted(progress.skipped, "turn") + " left out";
  return text;
}

}  // namespace reweave
