// lockset: conflicting accesses of two threads whose held locks do not exclude each other, even if something else
// orders them.
//
// Exact by that definition, up to kMaxLockedAccesses different combinations (thread, locks, kind) per variable; no
// statement about feasibility. Memory: those marks for each variable, and each distinct set of locks once.
#include <map>

#include "predictor/detectors/detector.h"
#include "predictor/detectors/shadow.h"

namespace reweave {
namespace {

constexpr std::size_t kMaxLockedAccesses = 24;

struct LockedAccess {
  std::uint32_t site;
  std::uint32_t locks;
  ThreadId thread;
  bool write;
};
struct LocksetCell {
  std::vector<LockedAccess> marks;
};

class LocksetPairs : public Detector {
 public:
  void take(const TraceChunk& chunk) override {
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const ThreadId t = chunk.thread[i];
      if (t >= threads_.size()) threads_.resize(t + std::size_t{1});
      event_ = chunk.first_event + i;
      const bool shared = chunk.aux[i] == static_cast<std::uint8_t>(LockMode::kShared);
      switch (chunk.kind[i]) {
        case EventKind::kRead:
        case EventKind::kWrite:
          access(t, chunk.address[i], chunk.extra[i], chunk.site[i], chunk.kind[i] == EventKind::kWrite);
          break;
        case EventKind::kLock:
          lock(t, chunk.address[i], shared);
          break;
        case EventKind::kUnlock:
          unlock(t, chunk.address[i]);
          break;
        case EventKind::kWaitBegin:
          threads_[t].waiting = chunk.extra[i];
          unlock(t, chunk.extra[i]);
          break;
        case EventKind::kWaitEnd:
          lock(t, threads_[t].waiting, false);
          break;
        case EventKind::kAlloc:
          shadow_.forget(chunk.address[i], chunk.extra[i]);
          break;
        default:
          break;
      }
    }
  }

  std::vector<RaceReport> finish() override { return reports_.take(); }

 private:
  using Set = std::map<std::uint64_t, bool>;  // lock -> held shared
  struct Thread {
    std::map<std::uint64_t, std::pair<std::uint32_t, bool>> held;  // lock -> depth, shared
    std::uint32_t locks = 0;                                       // number of this set of locks
    std::uint64_t waiting = 0;
  };

  void lock(ThreadId t, std::uint64_t address, bool shared) {
    auto [it, fresh] = threads_[t].held.try_emplace(address, 0u, shared);
    if (it->second.first++ == 0) renumber(t);
  }
  void unlock(ThreadId t, std::uint64_t address) {
    auto it = threads_[t].held.find(address);
    if (it == threads_[t].held.end() || --it->second.first > 0) return;
    threads_[t].held.erase(it);
    renumber(t);
  }
  void renumber(ThreadId t) {
    Set set;
    for (const auto& [lock, how] : threads_[t].held) set.emplace(lock, how.second);
    const auto [it, fresh] = numbers_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
    if (fresh) sets_.push_back(set);
    threads_[t].locks = it->second;
  }

  bool together(std::uint32_t a, std::uint32_t b) {
    if (a == 0 || b == 0) return true;
    const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto [it, fresh] = together_.try_emplace(key, true);
    if (fresh) {
      for (const auto& [lock, shared] : sets_[a]) {
        const auto other = sets_[b].find(lock);
        if (other != sets_[b].end() && !(shared && other->second)) it->second = false;
      }
    }
    return it->second;
  }

  void access(ThreadId t, std::uint64_t address, std::uint64_t bytes, std::uint32_t site, bool write) {
    const std::uint32_t locks = threads_[t].locks;
    shadow_.access(address, bytes, [&](LocksetCell& cell) {
      bool known = false;
      for (const LockedAccess& mark : cell.marks) {
        if (mark.thread == t) {
          known |= mark.locks == locks && mark.write == write;
        } else if ((mark.write || write) && together(mark.locks, locks)) {
          reports_.add({mark.site, mark.thread, mark.write}, {site, t, write}, address, event_);
        }
      }
      if (!known && cell.marks.size() < kMaxLockedAccesses) cell.marks.push_back({site, locks, t, write});
    });
  }

  std::uint64_t event_ = 0;
  std::vector<Thread> threads_;
  Shadow<LocksetCell> shadow_;
  std::map<Set, std::uint32_t> numbers_{{Set{}, 0}};
  std::vector<Set> sets_{Set{}};
  std::unordered_map<std::uint64_t, bool> together_;  // by the numbers of two sets
  RaceReports reports_;
};

}  // namespace

std::unique_ptr<Detector> make_lockset() { return std::make_unique<LocksetPairs>(); }

}  // namespace reweave
