#include "explorer/campaign/failure_key.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>

namespace reweave {

namespace {

bool stands_still(const RunResult& run) {
  return run.outcome == wire::OutcomeKind::kDeadlock || run.outcome == wire::OutcomeKind::kHang;
}

// The functions of the program in which unfinished threads wait or loop.
std::set<std::string> standing(const Observation& run, Places& places) {
  std::set<std::string> functions;
  std::set<ThreadId> seen;
  std::set<ThreadId> done;
  for (const ChoiceNote& note : run.tail()) {
    seen.insert(note.thread);
    done.insert(note.thread);
    if (places.in_program(note.pc)) functions.insert(places.function(note.pc));
  }
  for (std::size_t i = run.size(); i-- > 0;) {
    const ThreadId thread = run[i].thread;
    const bool last = seen.insert(thread).second;
    if (last && kind_of(run[i]) == OpKind::kSyscall && run[i].detail == SYS_exit) done.insert(thread);
    // Operations inside libraries do not show where the program is.
    if (places.in_program(run[i].pc) && done.insert(thread).second) functions.insert(places.function(run[i].pc));
  }
  return functions;
}

}  // namespace

std::uint64_t failure_site(const RunResult& run, const Places& places) {
  const Observation& observed = run.observed;
  if (observed.empty() || stands_still(run) || !run.races.empty()) return 0;
  const ThreadId last = observed[observed.size() - 1].thread;
  for (std::size_t i = observed.size(); i-- > 0;)
    if (observed[i].thread == last && places.in_program(observed[i].pc)) return observed[i].pc;
  return 0;
}

RacingPair racing_pair(const Observation& run) {
  for (std::size_t i = 0; i < run.size(); i++) {
    if (!run.preempted(i)) continue;
    std::size_t back = i;
    while (back < run.size() && run[back].thread != run[i].from) back++;
    if (back == run.size()) continue;
    RacingPair pair;
    for (std::size_t k = back; k-- > i;) {
      if (!dependent(run[k], run[back])) continue;
      if (pair.between != 0 && run[k].is_write == 0) continue;
      pair = {run[back].pc, run[k].pc, run[back].object};
      if (run[k].is_write != 0) break;
    }
    if (pair.between != 0) return pair;
  }
  return {};
}

std::uint64_t release_site(const Observation& run) {
  if (run.empty()) return 0;
  const std::size_t last = run.size() - 1;
  for (std::size_t i = last; i-- > 0;)
    if (is_release(run[i]) && dependent(run[i], run[last])) return run[i].pc;
  return 0;
}

bool says_it_all(const RunResult& run) {
  return stands_still(run) || run.outcome == wire::OutcomeKind::kMemoryError || !run.races.empty();
}

FailureKey key_of(const RunResult& run, Places& places) {
  FailureKey key;
  const Observation& observed = run.observed;
  if (observed.empty() && run.races.empty()) return key;
  if (!run.races.empty()) {
    key.where.insert(run.text);
  } else if (stands_still(run)) {
    key.stands_still = true;
    key.where = standing(observed, places);
  } else if (says_it_all(run)) {
    key.where.insert(fmt::format("use in {}", places.function(failure_site(run, places))));
    if (const std::uint64_t release = release_site(observed); release != 0)
      key.where.insert(fmt::format("release in {}", places.function(release)));
  } else {
    key.where.insert(fmt::format("{:#x}", failure_site(run, places)));
    if (const RacingPair pair = racing_pair(observed); pair.between != 0) {
      key.stopped = places.function(pair.stopped);
      key.pair = {key.stopped, places.function(pair.between)};
      key.object = pair.object;
    }
  }
  return key;
}

std::string functions_of(const FailureKey& key, std::uint64_t site, Places& places) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (site != 0 && key.where.size() == 1 && key.where.begin()->starts_with("0x"))
    add(places.function(site));
  else if (!key.where.contains("0x0"))
    for (const std::string& place : key.where) add(place);
  if (!key.pair.empty())
    text += fmt::format("{}{} against {}", text.empty() ? "" : ": ", *key.pair.begin(), *key.pair.rbegin());
  return text;
}

bool same_bug(const FailureKey& a, const FailureKey& b) {
  // Stuck threads block a varying number of other threads, so it is sufficient that one set includes the other.
  const auto includes = [](const FailureKey& all, const FailureKey& some) {
    return std::ranges::includes(all.where, some.where);
  };
  if (a.stands_still && b.stands_still ? !includes(a, b) && !includes(b, a) : a.where != b.where) return false;
  if (a.pair.empty() || b.pair.empty() || a.pair == b.pair) return true;
  // The work of the same thread is interrupted by different users of the same lock or variable.
  return a.stopped == b.stopped && a.object == b.object;
}

}  // namespace reweave
