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

// Where steps are in a run.
class StepsOf {
 public:
  explicit StepsOf(const Observation& run) {
    std::map<ThreadId, std::size_t> made;
    for (std::size_t i = 0; i < run.size(); i++) {
      if (!run.resumed(i)) choices_[{run[i].thread, run[i].pc}].push_back(i);
      rank_.push_back(made[run[i].thread]++);
    }
  }

  // The choice that is this step.
  std::optional<std::size_t> find(const WitnessStep& step) const {
    const auto at = choices_.find({step.thread, step.pc});
    if (at == choices_.end() || step.occurrence >= at->second.size()) return {};
    return at->second[step.occurrence];
  }
  // How many choices its thread had made before.
  std::size_t rank(std::size_t choice) const { return rank_[choice]; }

 private:
  std::map<std::pair<ThreadId, std::uint64_t>, std::vector<std::size_t>> choices_;  // by thread and place
  std::vector<std::size_t> rank_;
};

// The first choice of the run that is one of `steps`, the earliest in the trace first. Some events of a trace have
// their point at another place, such as a join's at its system call.
std::optional<std::size_t> find_first(WitnessOrder steps, const StepsOf& run) {
  constexpr std::size_t kTries = 16;
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  for (std::size_t i = 0; i < std::min(steps.size(), kTries); i++)
    if (const auto found = run.find(steps[i])) return found;
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
  std::vector<ThreadId> choices;
  if (!needs_beginning(candidate)) return choices;
  if (candidate.cut && candidate.turns.empty()) return {};
  const StepsOf steps(recorded);
  const auto end = candidate.cut ? steps.find(candidate.turns.front()) : find_first(candidate.witness, steps);
  if (!end) return {};
  std::map<ThreadId, std::size_t> made;
  const auto choose = [&](ThreadId thread) {
    choices.push_back(thread);
    made[thread]++;
  };
  for (std::size_t i = 0; i < *end; i++) choose(recorded[i].thread);
  for (std::size_t turn = 1; turn < candidate.turns.size(); turn++) {
    const ThreadId thread = candidate.turns[turn].thread;
    // What is at another place here is made with the thread's next turn.
    const auto last = steps.find(candidate.turns[turn]);
    while (last && made[thread] <= steps.rank(*last)) choose(thread);
  }
  return choices;
}

std::vector<WitnessTurn> turns_of(const WitnessOrder& order) {
  std::vector<WitnessTurn> turns;
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    const ThreadId thread = order[from].thread;
    std::optional<std::size_t> last;
    for (to = from; to < order.size() && order[to].thread == thread; to++)
      if (order[to].kind != EventKind::kJoin) last = to;
    if (!last) continue;
    const std::uint64_t pc = order[*last].pc;
    const auto arrivals = std::count_if(order.begin() + static_cast<std::ptrdiff_t>(from),
                                        order.begin() + static_cast<std::ptrdiff_t>(*last) + 1,
                                        [pc](const auto& s) { return s.pc == pc; });
    turns.push_back({pc, static_cast<std::uint32_t>(arrivals), thread, 0});
  }
  return turns;
}

RunRequest witness_request(const std::vector<ThreadId>& beginning, const WitnessOrder& order) {
  const std::vector<WitnessTurn> turns = turns_of(order);
  const WitnessHeader header = {static_cast<std::uint32_t>(beginning.size()), static_cast<std::uint32_t>(turns.size())};
  const std::size_t choice_bytes = (beginning.size() * sizeof(ThreadId) + 7) / 8 * 8;
  RunRequest request;
  request.policy = "witness";
  request.goal.resize(sizeof header + choice_bytes + turns.size() * sizeof(WitnessTurn));
  std::byte* at = request.goal.data();
  std::memcpy(at, &header, sizeof header);
  if (!beginning.empty()) std::memcpy(at + sizeof header, beginning.data(), beginning.size() * sizeof(ThreadId));
  if (!turns.empty()) std::memcpy(at + sizeof header + choice_bytes, turns.data(), turns.size() * sizeof(WitnessTurn));
  return request;
}

bool was_followed(const RunResult& run, const WitnessOrder& order) {
  return run.witness.next >= turns_of(order).size() && run.witness.skipped == 0;
}

std::string tell_departure(const RunResult& run, const WitnessOrder& order, Places& places) {
  static constexpr const char* kReasons[] = {"the run ended", "it was not born or had ended", "it had to wait",
                                             "it did not come there"};
  const std::vector<WitnessTurn> turns = turns_of(order);
  const WitnessProgress& progress = run.witness;
  const std::uint64_t turn = progress.skipped > 0 ? progress.first_skipped : progress.next;
  if (turn >= turns.size()) return "";
  const char* reason = kReasons[progress.obstacle < std::size(kReasons) ? progress.obstacle : 0];
  std::string text = fmt::format("left in turn {} of {}, in which thread {} was to come to {}: {}", turn + 1,
                                 turns.size(), turns[turn].thread, places.code(turns[turn].pc), reason);
  if (progress.skipped > 0) text += fmt::format("; {} turns were left out", progress.skipped);
  return text;
}

}  // namespace reweave
