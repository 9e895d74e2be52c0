#include "explorer/explain/deadlock.h"

#include <algorithm>
#include <map>

namespace reweave {

namespace {

// The state at the end of a run: the acquisition of each lock that is still held, and each thread's last operation.
struct FinalState {
  std::map<std::uint64_t, Event> holders;  // by lock
  std::map<ThreadId, Event> last;
};

FinalState final_state(const Observation& run) {
  FinalState state;
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals;
  const auto is_lock = [](const Event& event) { return kind_of(event.note) == OpKind::kLock; };
  for (std::size_t i = 0; i < run.size(); i++) {
    const ChoiceNote& note = run[i];
    const auto before = state.last.find(note.thread);
    if (run.resumed(i) && before != state.last.end()) continue;
    // The thread has continued, so it got the lock.
    if (before != state.last.end() && is_lock(before->second))
      state.holders.insert_or_assign(before->second.note.object, before->second);
    const std::uint32_t number = ++arrivals[{note.thread, note.pc}];
    state.last.insert_or_assign(note.thread, Event{{note.pc, number, note.thread, 0}, i, note});
    const auto held = state.holders.find(note.object);
    if (kind_of(note) == OpKind::kUnlock && held != state.holders.end() && held->second.name.thread == note.thread)
      state.holders.erase(held);
  }
  return state;
}

}  // namespace

std::vector<LockWait> lock_cycle(const Observation& run) {
  const FinalState state = final_state(run);
  for (const auto& [first, ignored] : state.last) {
    std::vector<LockWait> chain;
    for (ThreadId thread = first; chain.size() <= state.last.size();) {
      const Event& wants = state.last.at(thread);
      const auto holder = state.holders.find(wants.note.object);
      if (kind_of(wants.note) != OpKind::kLock || holder == state.holders.end()) break;
      LockWait wait;
      wait.wants = wants;
      chain.push_back(std::move(wait));
      thread = holder->second.name.thread;
      if (!state.last.contains(thread)) break;
      if (thread != first) continue;
      // Each thread waits for the lock that the next one holds.
      for (std::size_t i = 0; i < chain.size(); i++)
        chain[(i + 1) % chain.size()].holds = state.holders.at(chain[i].wants.note.object);
      return chain.size() > 1 ? chain : std::vector<LockWait>{};
    }
  }
  return {};
}

std::vector<Event> last_waits(const RunResult& run) {
  constexpr std::size_t kMostThreads = 16;
  std::vector<Event> waits;
  if (run.outcome != wire::OutcomeKind::kDeadlock) return waits;
  for (const auto& [thread, event] : final_state(run.observed).last) {
    const OpKind kind = kind_of(event.note);
    const bool may_wait =
        kind == OpKind::kLock || kind == OpKind::kWait || kind == OpKind::kSemaphore || kind == OpKind::kBarrier;
    if (may_wait && event.note.object != 0 && waits.size() < kMostThreads) waits.push_back(event);
  }
  return waits;
}

}  // namespace reweave
