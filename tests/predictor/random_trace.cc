#include "tests/predictor/random_trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>

namespace reweave::testing {
namespace {

constexpr std::uint64_t kVariables = 0x1000, kLocks = 0x2000, kConditions = 0x3000, kBlocks = 0x5000, kStacks = 0x8000;
constexpr std::uint64_t kPrivate = 0x9000, kSemaphores = 0xa000, kBarrier = 0xb000;
constexpr std::uint64_t kBlockBytes = 0x100, kExitGroup = 231;
constexpr std::uint32_t kBlockCount = 2;

class RandomTrace {
 public:
  RandomTrace(const RandomTraceOptions& options, std::uint64_t seed)
      : options_(options), random_(seed), threads_(options.threads) {
    for (std::uint32_t t = 0; t < options.threads; ++t) {
      threads_[t].alive = !options.fork_join || t == 0;
      threads_[t].only_private = options.privates && pick(3) == 0;
    }
  }

  std::vector<TraceEvent> run() {
    for (std::uint32_t b = 0; options_.heap && b < kBlockCount; ++b) emit(0, EventKind::kAlloc, block(b), 16);
    for (std::uint32_t tries = 0; events_.size() < options_.events && tries < options_.events * 20; ++tries) {
      step(static_cast<ThreadId>(pick(options_.threads)));
    }
    if (options_.ends) end();
    return std::move(events_);
  }

 private:
  struct Held {
    std::uint32_t lock;
    bool shared;
  };
  struct Thread {
    bool alive = false;
    bool joined = false;
    bool waiting = false;
    bool notified = false;
    bool only_private = false;
    std::uint32_t barrier_turn = 0;  // the barrier turn that it waits for, from 1; 0: none
    std::vector<Held> held;
  };

  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void emit(ThreadId t, EventKind kind, std::uint64_t address, std::uint64_t extra = 0, std::uint8_t aux = 0) {
    events_.push_back({address, events_.size(), extra, t, kind, aux});
  }

  static std::uint64_t stack(ThreadId t) { return kStacks + t * kBlockBytes; }
  static std::uint64_t block(std::uint32_t b) { return kBlocks + b * kBlockBytes; }

  void end() {
    for (std::uint32_t t = 1; t < threads_.size(); ++t) {
      const bool asleep = threads_[t].waiting || threads_[t].barrier_turn != 0;
      if (threads_[t].alive && !asleep) emit(static_cast<ThreadId>(t), EventKind::kEnd, 0);
    }
    if (!threads_[0].waiting && threads_[0].barrier_turn == 0) emit(0, EventKind::kSyscall, 0, kExitGroup);
  }

  void heap(ThreadId t) {
    const std::uint32_t b = pick(kBlockCount);
    if (pick(4) == 0 && freed_[b] < 2) {
      ++freed_[b];
      return emit(t, EventKind::kFree, block(b));
    }
    if (freed_[b] == 0) emit(t, pick(2) == 0 ? EventKind::kRead : EventKind::kWrite, block(b) + pick(2) * 8, 8);
  }

  void step(ThreadId t) {
    Thread& thread = threads_[t];
    if (!thread.alive) return maybe_start(t);
    if (thread.waiting) return maybe_wake(t);
    if (thread.barrier_turn != 0) return maybe_leave(t);
    if (thread.only_private && pick(2) == 0) return access(t);
    if ((options_.semaphores || options_.barrier != 0) && pick(5) == 0) {
      return options_.barrier == 0 || (options_.semaphores && pick(2) == 0) ? semaphore(t) : enter(t);
    }
    if (options_.messages && pick(4) == 0) return message(t);
    const std::uint32_t choice = pick(100);
    if (options_.nests && choice < 40) return thread.held.size() < 2 ? acquire(t) : release(t);
    if (choice < 50) return access(t);
    if (choice < 65) return acquire(t);
    if (choice < 80) return release(t);
    if (choice < 92 && options_.branches) return emit(t, EventKind::kBranch, 0);
    if (options_.conditions && !(options_.fork_join && pick(3) == 0)) return condition(t);
    if (options_.fork_join) return maybe_join(t);
  }

  void access(ThreadId t) {
    std::uint64_t address = kVariables + pick(options_.variables) * 8, size = 8;
    if (options_.privates && (threads_[t].only_private || pick(4) == 0)) {
      return emit(t, pick(2) == 0 ? EventKind::kRead : EventKind::kWrite, kPrivate + t * 8u, 8);
    }
    if (options_.mixed_sizes && pick(2) == 0) {
      size = 4;
      address += pick(2) * 4;
    } else if (options_.mixed_sizes && pick(4) == 0) {
      size = 16;
    }
    if (options_.atomics && pick(4) == 0) {
      constexpr EventKind kKinds[] = {EventKind::kAtomicLoad, EventKind::kAtomicStore, EventKind::kAtomicRmw};
      const EventKind kind = kKinds[pick(3)];
      const bool blind = options_.blind_updates && kind == EventKind::kAtomicRmw && pick(3) != 0;
      return emit(t, kind, options_.mixed_atomics ? address & ~7ull : kVariables + 0x100, 8, blind ? kOnlyData : 0);
    }
    if (options_.heap && pick(3) == 0) return heap(t);
    if (options_.stacks && !started_.empty() && pick(2) == 0) {
      const ThreadId owner = started_[pick(static_cast<std::uint32_t>(started_.size()))];
      return emit(t, pick(2) == 0 ? EventKind::kRead : EventKind::kWrite, stack(owner) + 8, 8);
    }
    const EventKind kind = pick(2) == 0 ? EventKind::kRead : EventKind::kWrite;
    const bool only_data = options_.data_reads && pick(2) == 0;
    emit(t, kind, address, size, only_data ? kOnlyData : options_.pointers && pick(2) == 0 ? kNullValue : 0);
  }

  bool can_take(std::uint32_t lock, bool shared) const {
    for (const Thread& other : threads_) {
      for (const Held& h : other.held) {
        if (h.lock == lock && !(h.shared && shared)) return false;
      }
    }
    return true;
  }

  void acquire(ThreadId t) {
    const std::uint32_t lock = pick(options_.locks);
    const bool shared = options_.shared_locks && pick(2) == 0;
    auto& held = threads_[t].held;
    const bool mine = std::any_of(held.begin(), held.end(), [&](const Held& h) { return h.lock == lock; });
    if (mine || !can_take(lock, shared)) return;
    held.push_back({lock, shared});
    emit(t, EventKind::kLock, kLocks + lock * 8, 0, shared ? 1 : 0);
  }

  void release(ThreadId t) {
    auto& held = threads_[t].held;
    if (held.empty()) return;
    const std::size_t which = pick(5) == 0 ? 0 : held.size() - 1;  // sometimes not nested
    emit(t, EventKind::kUnlock, kLocks + held[which].lock * 8, 0, held[which].shared ? 1 : 0);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void condition(ThreadId t) {
    auto& held = threads_[t].held;
    if (held.empty() && options_.locks > 1 && can_take(0, false) && can_take(1, false) && pick(2) == 0) {
      for (std::uint32_t lock : {0u, 1u}) {  // the wait releases one and keeps the other
        held.push_back({lock, false});
        emit(t, EventKind::kLock, kLocks + lock * 8);
      }
    }
    if (pick(2) == 0 && !held.empty() && !held.back().shared) {
      const std::uint32_t lock = held.back().lock;
      emit(t, EventKind::kWaitBegin, kConditions, kLocks + lock * 8);
      threads_[t].waiting = true;
      waiters_.push_back(t);
      held.pop_back();
      wait_lock_.resize(threads_.size());
      wait_lock_[t] = lock;
    } else {
      notify(t);
    }
  }

  void notify(ThreadId t) {
    const bool all = !options_.wakes_one || pick(2) == 0;
    emit(t, EventKind::kNotify, kConditions, 0, all ? 1 : 0);
    for (ThreadId first : waiters_) {
      if (threads_[first].notified) continue;
      threads_[first].notified = true;
      if (!all) return;
    }
  }

  void maybe_wake(ThreadId t) {
    Thread& thread = threads_[t];
    const bool timeout = options_.wakes_one && !thread.notified && pick(4) == 0;
    if ((!thread.notified && !timeout) || !can_take(wait_lock_[t], false)) return;
    emit(t, EventKind::kWaitEnd, kConditions, kLocks + wait_lock_[t] * 8, timeout ? 1 : 0);
    std::erase(waiters_, t);
    thread.held.push_back({wait_lock_[t], false});
    thread.waiting = thread.notified = false;
  }

  void semaphore(ThreadId t) {
    const std::uint32_t which = pick(2);
    if (pick(2) == 0) {
      ++posted_[which];
      return emit(t, EventKind::kSemPost, kSemaphores + which * 0x20);
    }
    if (posted_[which] == 0 && pick(4) != 0) return;  // sometimes its initial value was not zero
    posted_[which] -= posted_[which] == 0 ? 0 : 1;
    emit(t, EventKind::kSemWait, kSemaphores + which * 0x20);
  }

  // A thread receives only messages that were sent before.
  void message(ThreadId t) {
    const std::uint32_t which = pick(2);
    const bool sends = pick(2) == 0;
    if (!sends && sent_[which] == 0) return;
    sent_[which] += sends ? 1 : -1;
    emit(t, sends ? EventKind::kSend : EventKind::kReceive, kFirstKernelObject + 1 + which);
  }

  void enter(ThreadId t) {
    if (!threads_[t].held.empty()) return;
    emit(t, EventKind::kBarrierEnter, kBarrier);
    threads_[t].barrier_turn = entries_++ / options_.barrier + 1;
  }
  void maybe_leave(ThreadId t) {
    if (entries_ < threads_[t].barrier_turn * options_.barrier) return;
    emit(t, EventKind::kBarrierLeave, kBarrier);
    threads_[t].barrier_turn = 0;
  }

  void maybe_start(ThreadId t) {
    if (threads_[t].joined || pick(2) == 0) return;
    std::vector<ThreadId> parents;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i].alive && !threads_[i].waiting && threads_[i].barrier_turn == 0)
        parents.push_back(static_cast<ThreadId>(i));
    }
    if (parents.empty()) return;
    const ThreadId parent = parents[pick(static_cast<std::uint32_t>(parents.size()))];
    if (options_.stacks) emit(parent, EventKind::kAlloc, stack(t), kBlockBytes, kThreadStack);
    emit(parent, EventKind::kFork, 0, t);
    started_.push_back(t);
    threads_[t].alive = true;
    if (pick(2) == 0) emit(t, EventKind::kBegin, 0);
  }

  void maybe_join(ThreadId t) {
    const auto other = static_cast<ThreadId>(pick(static_cast<std::uint32_t>(threads_.size())));
    Thread& joined = threads_[other];
    if (other == t || other == 0 || !joined.alive || joined.waiting || joined.barrier_turn != 0) return;
    if (!joined.held.empty()) return;
    joined.alive = false;
    joined.joined = true;
    emit(t, EventKind::kJoin, 0, other);
  }

  RandomTraceOptions options_;
  std::mt19937_64 random_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> wait_lock_;
  std::vector<ThreadId> started_, waiters_;
  std::array<std::uint32_t, 2> posted_{};
  std::array<std::int32_t, 2> sent_{};  // number of messages sent and not yet received
  std::uint32_t entries_ = 0;           // number of entries to the barrier
  std::array<std::uint32_t, kBlockCount> freed_{};
  std::vector<TraceEvent> events_;
};

// Gives the accesses values. Each 4 bytes of memory hold one of three values; writes change them.
void add_values(std::vector<TraceEvent>& events, std::uint64_t seed) {
  constexpr std::uint64_t kWord = 4;
  std::mt19937_64 random(seed);
  std::map<std::uint64_t, std::uint32_t> memory;  // by address
  for (TraceEvent& e : events) {
    if (e.kind > EventKind::kAtomicRmw) continue;
    std::array<std::uint32_t, 4> words{};
    for (std::uint64_t i = 0; i < e.extra / kWord; ++i) words.at(i) = memory[e.address + i * kWord];
    e.has_value = e.extra <= sizeof e.value && random() % 8 != 0;
    if (e.has_value) std::memcpy(&e.value, words.data(), e.extra);
    if (e.kind == EventKind::kRead || e.kind == EventKind::kAtomicLoad) continue;
    for (std::uint64_t i = 0; i < e.extra / kWord; ++i)
      memory[e.address + i * kWord] = static_cast<std::uint32_t>(random() % 3);
  }
}

}  // namespace

std::vector<TraceEvent> random_trace(const RandomTraceOptions& options, std::uint64_t seed) {
  std::vector<TraceEvent> events = RandomTrace(options, seed).run();
  if (options.values) add_values(events, seed);
  return events;
}

}  // namespace reweave::testing
