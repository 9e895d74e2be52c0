#include "recorder/core/schedule/waits.h"

#include "recorder/core/schedule/choice.h"

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
  thread.state.store(ThreadState::kReady);
  note_awake(thread.id);
  s.waiting_at[wait_slot(thread.wait.address)]--;
}

// The order does not matter: all are ready afterwards.
std::uint32_t wake_all(WaitKind kind, std::uint64_t key, std::uint32_t bitset) {
  RuntimeState& s = state();
  std::uint32_t woken = 0;
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    Thread& thread = s.threads[s.live[i]];
    if (!waits_for(thread, kind, key) || (thread.wait.bitset & bitset) == 0) continue;
    wake_one(thread);
    woken++;
  }
  return woken;
}

}  // namespace

std::uint32_t wake(WaitKind kind, std::uint64_t key, std::uint32_t count, std::uint32_t bitset) {
  RuntimeState& s = state();
  std::uint32_t woken = 0;
  while (woken < count) {
    Thread* first = nullptr;
    std::uint32_t waiting = 0;
    for (std::uint32_t i = 0; i < s.live_threads; i++) {
      Thread& thread = s.threads[s.live[i]];
      if (!waits_for(thread, kind, key)) continue;
      if ((thread.wait.bitset & bitset) == 0) continue;
      waiting++;
      if (first == nullptr || thread.wait.order < first->wait.order) first = &thread;
    }
    if (first == nullptr) break;
    if (waiting > 1 && waiting <= count - woken) return woken + wake_all(kind, key, bitset);
    wake_one(*first);
    woken++;
  }
  return woken;
}

void wake_sleeper(const Thread& thread) { wake(WaitKind::kSleep, sleep_key(thread), 1); }

std::uint32_t requeue(std::uint64_t from, std::uint64_t to, std::uint64_t to_address, std::uint32_t count) {
  RuntimeState& s = state();
  std::uint32_t moved = 0;
  for (std::uint32_t i = 0; i < s.live_threads && moved < count; i++) {
    Thread& thread = s.threads[s.live[i]];
    if (thread.state.load() != ThreadState::kBlocked || thread.wait.kind != WaitKind::kFutex) continue;
    if (thread.wait.key != from) continue;
    thread.wait.key = to;
    s.waiting_at[wait_slot(thread.wait.address)]--;
    s.waiting_at[wait_slot(to_address)]++;
    thread.wait.address = to_address;
    moved++;
  }
  return moved;
}

}  // namespace reweave::core
