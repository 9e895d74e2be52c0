#include "recorder/core/schedule/waits.h"

#include "recorder/core/schedule/choice.h"
#include "recorder/wait_queues.h"

namespace reweave::core {

namespace {

std::uint64_t sleep_key(const Thread& thread) { return std::uint64_t{thread.id} | std::uint64_t{1} << 61; }

// True if `thread` waits for (kind, key). If it waits for several futexes (futex_waitv), notes which of them this is.
bool waits_for(const Thread& thread, WaitKind kind, std::uint64_t key) {
  if (thread.state.load() != ThreadState::kBlocked) return false;
  if (thread.wait.kind == kind) return thread.wait.key == key;
  if (kind != WaitKind::kFutex || thread.wait.kind != WaitKind::kFutexVector) return false;
  auto& vector = *reinterpret_cast<FutexVector*>(thread.wait.key);
  for (std::uint32_t i = 0; i < vector.count; i++)
    if (vector.keys[i] == key) {
      vector.woken = i;
      return true;
    }
  return false;
}

}  // namespace

WaitResult sleep_modelled(std::int64_t deadline) {
  WaitArgs args = {WaitKind::kSleep, sleep_key(self()), 0};
  args.deadline = deadline;
  return block(args, wire::SwitchReason::kInKernel);
}

namespace {

void wake_one(Thread& thread) {
  // A policy that is unfair by design may let a thread starve for long, but not forever.
  constexpr std::uint32_t kPatience = 4, kUnfairPatience = 64;
  RuntimeState& s = state();
  thread.wait.result = WaitResult::kWoken;
  const std::uint32_t patience = policy_holds_at_calls() ? kPatience : kUnfairPatience;
  if (live() && thread.vain_waits >= patience) s.woken_starves = 1;
  leave_wait_queue(s, thread);
  thread.state.store(ThreadState::kReady);
  note_awake(thread.id);
}

// Walks over the threads that wait for a key, in order of arrival. A futex is also waited for by threads in the queue
// of those that wait for several.
class Waiters {
 public:
  Waiters(WaitKind kind, std::uint64_t key)
      : kind_(kind),
        key_(key),
        single_(first_waiting(state(), wait_queue(state(), kind, key))),
        several_(kind == WaitKind::kFutex ? first_waiting(state(), state().vector_waits) : nullptr) {}

  // Returns the next one, which may then leave its queue; null if there is none.
  Thread* next() {
    skip_others(single_);
    skip_others(several_);
    const bool takes_single = several_ == nullptr || (single_ != nullptr && single_->wait.order < several_->wait.order);
    Thread*& from = takes_single ? single_ : several_;
    Thread* found = from;
    if (from != nullptr) from = next_waiting(state(), *from);
    return found;
  }

 private:
  void skip_others(Thread*& at) const {
    while (at != nullptr && !waits_for(*at, kind_, key_)) at = next_waiting(state(), *at);
  }

  const WaitKind kind_;
  const std::uint64_t key_;
  Thread *single_, *several_;
};

}  // namespace

std::uint32_t wake(WaitKind kind, std::uint64_t key, std::uint32_t count, std::uint32_t bitset) {
  Waiters waiters(kind, key);
  std::uint32_t woken = 0;
  while (woken < count) {
    Thread* thread = waiters.next();
    if (thread == nullptr) break;
    if ((thread->wait.bitset & bitset) == 0) continue;
    wake_one(*thread);
    woken++;
  }
  return woken;
}

void wake_sleeper(const Thread& thread) { wake(WaitKind::kSleep, sleep_key(thread), 1); }

std::uint32_t requeue(std::uint64_t from, std::uint64_t to, std::uint64_t to_address, std::uint32_t count) {
  RuntimeState& s = state();
  Waiters waiters(WaitKind::kFutex, from);
  std::uint32_t moved = 0;
  while (moved < count) {
    Thread* thread = waiters.next();
    if (thread == nullptr) break;
    if (thread->wait.kind != WaitKind::kFutex) continue;
    leave_wait_queue(s, *thread);
    thread->wait.key = to;
    thread->wait.address = to_address;
    enter_wait_queue(s, *thread);
    moved++;
  }
  return moved;
}

}  // namespace reweave::core
