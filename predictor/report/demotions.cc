#include "predictor/report/demotions.h"

#include <algorithm>
#include <unordered_map>

namespace reweave {
namespace {

// Subtracted from the score for each reason: enough to rank below everything worth reading first.
constexpr double kCost = 1.8;

}  // namespace

// A predicate is a variable that a thread reads under a lock before it waits for a condition that releases that lock.
Demotions::Demotions(const TraceModel& model)
    : model_(model), predicates_(model.variables.size()), fork_of_(model.thread_count(), kNone) {
  for (EventIndex e = 0; e < model.size(); ++e)
    if (model.op[e] == Op::kFork && model.object[e] < fork_of_.size()) fork_of_[model.object[e]] = e;
  for (const auto& events : model.threads) {
    for (EventIndex wait : events) {
      if (model.op[wait] != Op::kWait || model.held[wait] == 0) continue;
      for (std::uint32_t pos = model.position[wait]; pos-- > 0;) {
        const EventIndex e = events[pos];
        if (model.held[e] != model.held[wait]) break;
        if (model.is_read(e)) predicates_[model.object[e]] = true;
      }
    }
  }
}

bool Demotions::has_variable(const Finding& finding, std::uint32_t variable) const {
  return std::any_of(finding.events.begin(), finding.events.end(),
                     [&](const FindingEvent& e) { return model_.is_access(e.index) && e.object == variable; });
}

// True if each access holds a lock and the variable is a predicate: waiters reread it in a loop to see others' changes.
bool Demotions::is_predicate(const Finding& finding) const {
  return finding.kind == FindingKind::kAtomicity &&
         std::all_of(finding.events.begin(), finding.events.end(), [&](const FindingEvent& e) {
           return model_.is_access(e.index) && predicates_[e.object] && model_.held[e.index] != 0;
         });
}

// True if all accesses are atomic and the outer ones are not a load and then a store. (An update counts as one access.)
bool Demotions::is_each_whole(const Finding& finding) const {
  if (finding.kind != FindingKind::kAtomicity || finding.events.size() != 3) return false;
  const auto& e = finding.events;
  const bool atomic = std::all_of(e.begin(), e.end(), [&](const FindingEvent& f) { return model_.is_atomic(f.index); });
  return atomic && !(e[0].op == Op::kRead && e[2].op == Op::kWrite);
}

// True if a thread writes in one section and updates in another: the update reads the current value first.
bool Demotions::reads_afresh(const Finding& finding) const {
  if (finding.kind != FindingKind::kAtomicity || finding.events.size() != 3) return false;
  const EventIndex first = finding.events[0].index, last = finding.events[2].index;
  return model_.is_write(first) && (model_.flags[last] & kFeedsWrite) != 0 && model_.held[last] != 0 &&
         model_.held[first] != model_.held[last];
}

// True if the first write comes before its thread starts the thread of the middle access, as an initialisation does.
bool Demotions::begins_before_the_other(const Finding& finding) const {
  if (finding.kind != FindingKind::kAtomicity || finding.pattern != "W1-R2-W1") return false;
  const EventIndex first = finding.events[0].index, fork = fork_of_[finding.events[1].thread];
  return fork != kNone && model_.thread[fork] == model_.thread[first] && model_.position[fork] > model_.position[first];
}

bool Demotions::is_early_atomic_read(const Finding& finding) const {
  return finding.pattern == "read-before-write" && model_.is_atomic(finding.events[0].index);
}

// True if the reader and the first writer are in sections that exclude each other (predictor/analyses/orders.cc).
bool Demotions::is_early_locked_read(const Finding& finding) {
  return finding.pattern == "read-before-write" && finding.query.sequence.empty();
}

std::uint32_t Demotions::assumed_elsewhere(const Finding& finding) const {
  if (!finding.assumes_data_only) return kNone;
  std::unordered_map<std::uint32_t, EventIndex> written;  // by variable, since the witness left the trace's order
  for (EventIndex e : finding.witness.tail(model_)) {
    if (!model_.is_access(e)) continue;
    const std::uint32_t variable = model_.object[e];
    const bool assumed = model_.carries_data(e, finding.query.rule) && !model_.decides_nothing(e);
    if (assumed && !has_variable(finding, variable)) {
      const auto last = written.find(variable);
      const EventIndex want = model_.link[e];
      const bool before = want == kNone || want < finding.witness.prefix();
      if (last == written.end() ? !before : last->second != want) return variable;
    }
    if (model_.is_write(e)) written[variable] = e;
  }
  return kNone;
}

void Demotions::apply(Finding& finding) const {
  const auto demote = [&](const char* why) {
    finding.score -= kCost;
    finding.remarks.emplace_back(why);
  };
  if (is_predicate(finding))
    demote("Ranks low: threads wait for this variable to change, in a loop around a wait for a condition.");
  if (is_each_whole(finding))
    demote("Ranks low: all accesses are atomic, as for a counter or flag, and none depends on a value read.");
  if (reads_afresh(finding))
    demote("Ranks low: the last access rereads the value that it changes, as updates of a counter under a lock do.");
  if (begins_before_the_other(finding))
    demote("Ranks low: the first write precedes the start of the other thread, as initialisation does.");
  if (is_early_atomic_read(finding)) demote("Ranks low: an atomic read usually checks whether the value is there.");
  if (is_early_locked_read(finding))
    demote("Ranks low: a read under the writer's lock usually checks whether the value is there.");
  if (assumed_elsewhere(finding) != kNone)
    demote(
        "Ranks low: real only if another variable, which this run read and then changed, decided nothing. That "
        "variable may be a lock or semaphore of the program.");
}

}  // namespace reweave
