#include "tests/predictor/generator.h"

#include <algorithm>
#include <array>

#include "tests/predictor/plants.h"

namespace reweave::testing {
namespace {

// Addresses. Each thread, and each group, has 64 KiB of its own.
constexpr std::uint64_t kPrivate = 0x10000000, kShared = 0x20000000, kSettings = 0x30000000, kStatistics = 0x38000000,
                        kPlanted = 0x40000000, kLocks = 0x50000000, kPlantedLocks = 0x60000000;
constexpr std::uint64_t kOwnBytes = 0x10000;
// Ordinary work has smaller sites, plants have this one and larger ones.
constexpr std::uint32_t kFirstPlantSite = 1000;
constexpr std::uint32_t kPrivateCount = 4096, kCounterCount = 64, kSettingCount = 16, kStatisticCount = 32,
                        kBufferWords = 4, kGroupLocks = 8, kGlobalLocks = 4;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1dull >> 32;
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((*this)() % n); }

 private:
  std::uint64_t state_;
};

class Generator {
 public:
  Generator(const GeneratorOptions& options, const std::function<void(const TraceEvent&, std::uint32_t)>& sink)
      : options_(options), sink_(sink), random_(options.seed), workers_(options.threads + 1) {
    group_size_ = options.group != 0 ? options.group : std::clamp(options.threads / 2, 1u, 4u);
    groups_ = std::max(1u, options.threads / group_size_);
    buffers_.resize(options.threads + 1);
    lock_owner_.assign(groups_ * kGroupLocks + kGlobalLocks, 0);
    next_thread_ = static_cast<ThreadId>(options.threads + 1);
  }

  std::vector<Plant> run() {
    for (std::uint32_t i = 0; i < kSettingCount; ++i) emit({kSettings + i * 8, 1, 8, 0, EventKind::kWrite, 0});
    for (std::uint32_t t = 1; t <= options_.threads; ++t) {
      emit({0, 2, t, 0, EventKind::kFork, 0});
      emit({0, 3, 0, static_cast<ThreadId>(t), EventKind::kBegin, 0});
    }
    plan();
    while (count_ < options_.events || !steps_.empty())
      turn(static_cast<ThreadId>(1 + random_.below(options_.threads)));
    while (std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.next < w.queue.size(); })) {
      for (std::uint32_t t = 1; t <= options_.threads; ++t) advance(static_cast<ThreadId>(t), ~0u, false);
    }
    for (std::uint32_t t = 1; t <= options_.threads; ++t) {
      emit({0, 4, 0, static_cast<ThreadId>(t), EventKind::kEnd, 0});
      emit({0, 5, t, 0, EventKind::kJoin, 0});
    }
    return plants_;
  }

 private:
  struct Worker {
    std::vector<TraceEvent> queue;  // its next events
    std::size_t next = 0;
  };
  // A buffer that its thread hands to the next thread of its group.
  struct Buffer {
    bool full = false;
    bool busy = false;
  };
  // A plant. Its next piece to emit is `next`.
  struct Step {
    std::uint64_t from, distance;
    std::array<ThreadId, 4> actors;
    PlantDesign design;
    bool orders;
    std::size_t next = 0;

    // True while other plants have to wait, because their truth would depend on this one.
    bool holds_up() const { return orders && (distance == 1 || !design.pieces[next].late); }
  };

  void emit(const TraceEvent& event) {
    sink_(event, static_cast<std::uint32_t>(event.pc));
    ++count_;
  }

  std::uint32_t group_of(ThreadId t) const { return (t - 1u) / group_size_ % groups_; }

  void turn(ThreadId t) { advance(t, 1 + random_.below(options_.slice), true); }

  // Continues thread `t` for up to `limit` events, unless it has to wait for a lock.
  void advance(ThreadId t, std::uint32_t limit, bool more) {
    Worker& worker = workers_[t];
    for (std::uint32_t done = 0; done < limit;) {
      if (worker.next == worker.queue.size()) {
        if (!more) return;
        worker.queue.clear();
        worker.next = 0;
        plant(t);
        work(t);
        if (count_ >= options_.events && steps_.empty()) return;
        if (worker.queue.empty()) continue;
      }
      const TraceEvent& event = worker.queue[worker.next];
      if (event.kind == EventKind::kLock || event.kind == EventKind::kUnlock) {
        ThreadId& owner = lock_owner_[(event.address - kLocks) / 8];
        if (event.kind == EventKind::kLock && owner != 0) return;
        owner = event.kind == EventKind::kLock ? t : ThreadId{0};
      }
      if (event.kind == EventKind::kNotify) {  // the generator's own mark, not emitted: a hand-over is complete
        Buffer& buffer = buffers_[event.extra];
        buffer.full = event.aux != 0;
        buffer.busy = false;
      } else {
        emit(event);
        ++done;
      }
      ++worker.next;
    }
  }

  // --- ordinary work ---

  void add(ThreadId t, EventKind kind, std::uint64_t address, std::uint32_t site, std::uint64_t extra = 0) {
    if (kind == EventKind::kBranch && !options_.branches) return;
    const bool atomic = kind == EventKind::kAtomicLoad || kind == EventKind::kAtomicStore;
    if (atomic || kind == EventKind::kRead || kind == EventKind::kWrite) extra = 8;
    workers_[t].queue.push_back({address, site, extra, t, kind, static_cast<std::uint8_t>(atomic ? 5 : 0)});
  }
  std::uint64_t group_lock(ThreadId t, std::uint32_t n) const { return kLocks + (group_of(t) * kGroupLocks + n) * 8; }
  std::uint64_t shared(ThreadId t, std::uint32_t n) const { return kShared + group_of(t) * kOwnBytes + n * 8; }

  void work(ThreadId t) {
    const std::uint32_t choice = random_.below(16);
    if (choice < 6) {
      for (std::uint32_t i = 0; i < 6; ++i) {
        const std::uint64_t address = kPrivate + t * kOwnBytes + random_.below(kPrivateCount) * 8;
        add(t, i % 2 == 0 ? EventKind::kRead : EventKind::kWrite, address, 10 + i);
      }
    } else if (choice < 9) {
      counter(t);
    } else if (choice < 10) {
      nested(t);
    } else if (choice < 12) {
      statistic(t);
    } else if (choice < 14) {
      add(t, EventKind::kRead, kSettings + random_.below(kSettingCount) * 8, 50 + random_.below(8));
      add(t, EventKind::kBranch, 0, 60);
    } else if (choice < 15) {
      const std::uint64_t flag = shared(t, 2000 + random_.below(4));
      add(t, random_.below(2) == 0 ? EventKind::kAtomicStore : EventKind::kAtomicLoad, flag, 61);
    } else {
      hand_over(t);
    }
  }

  void counter(ThreadId t) {
    const std::uint32_t n = random_.below(kCounterCount), lock = n % (kGroupLocks / 2), site = 100 + n % 16 * 4;
    add(t, EventKind::kLock, group_lock(t, lock), site);
    add(t, EventKind::kRead, shared(t, n), site + 1);
    if (n % 2 == 0) add(t, EventKind::kBranch, 0, 20);
    add(t, EventKind::kWrite, shared(t, n), site + 2);
    add(t, EventKind::kUnlock, group_lock(t, lock), site + 3);
  }

  void nested(ThreadId t) {
    const std::uint32_t n = random_.below(kCounterCount), outer = random_.below(2), inner = 2 + n % 2;
    add(t, EventKind::kLock, group_lock(t, outer), 30);
    add(t, EventKind::kLock, group_lock(t, inner), 31);
    add(t, EventKind::kWrite, shared(t, 100 + outer * 8 + inner), 32);
    add(t, EventKind::kUnlock, group_lock(t, inner), 33);
    add(t, EventKind::kUnlock, group_lock(t, outer), 34);
  }

  void statistic(ThreadId t) {
    const std::uint32_t n = random_.below(kStatisticCount);
    const std::uint64_t lock = kLocks + (groups_ * kGroupLocks + n % kGlobalLocks) * 8;
    add(t, EventKind::kLock, lock, 40);
    add(t, EventKind::kWrite, kStatistics + n * 8, 41);
    add(t, EventKind::kUnlock, lock, 42);
  }

  void hand_over(ThreadId t) {
    if (group_size_ < 2) return;
    // Empties the buffer of the previous thread in the group if it is full, otherwise fills the own one if it is empty.
    const std::uint32_t first = group_of(t) * group_size_ + 1, slot = t - first;
    if (slot >= group_size_) return;
    const std::uint32_t from = first + (slot + group_size_ - 1) % group_size_;
    Buffer& incoming = buffers_[from];
    Buffer& outgoing = buffers_[t];
    if (incoming.full && !incoming.busy) {
      incoming.busy = true;
      transfer(t, from, false);
    } else if (!outgoing.full && !outgoing.busy) {
      outgoing.busy = true;
      transfer(t, t, true);
    }
  }

  void transfer(ThreadId t, std::uint32_t buffer, bool fill) {
    const std::uint32_t site = fill ? 70 : 80, base = 1000 + (buffer - 1) % group_size_ * 16;
    const std::uint64_t lock = group_lock(t, kGroupLocks - 1 - (buffer - 1) % group_size_ % 4), flag = shared(t, base);
    add(t, EventKind::kLock, lock, site);
    add(t, EventKind::kRead, flag, site + 1);
    add(t, EventKind::kBranch, 0, site + 2);
    add(t, EventKind::kUnlock, lock, site + 3);
    for (std::uint32_t i = 1; i <= kBufferWords; ++i) {
      add(t, fill ? EventKind::kWrite : EventKind::kRead, shared(t, base + i), site + 4);
    }
    add(t, EventKind::kLock, lock, site + 5);
    add(t, EventKind::kWrite, flag, site + 6);
    add(t, EventKind::kUnlock, lock, site + 7);
    workers_[t].queue.push_back({0, 0, buffer, t, EventKind::kNotify, static_cast<std::uint8_t>(fill ? 1 : 0)});
  }

  // --- plants ---

  void plan() {
    const auto rows = plant_rows();
    for (std::uint32_t n = 0; n < options_.plants; ++n) {
      const PlantRow& row = rows[n / 2 % rows.size()];
      if (row.groups > groups_) continue;
      // Every second plant spans a large part of the trace.
      std::uint64_t from = options_.events / 10 + n * (options_.events / 2) / options_.plants;
      // Plants that order others come first (Step::holds_up).
      if (row.orders) from = options_.events / 20;
      const std::uint64_t distance = n % 2 == 0 ? 1 : options_.events / 3;
      PlantSpace space{kPlanted + n * 64, kPlantedLocks + n * 64, kFirstPlantSite + n * kPlantSites, options_.branches};
      space.started = next_thread_++;
      Step step{from, distance, {}, row.make(space), row.orders};
      for (std::uint32_t actor = 0; actor < 3; ++actor) {
        const std::uint32_t group = (n + actor) % groups_;
        step.actors[actor] = static_cast<ThreadId>(1 + group * group_size_ + random_.below(group_size_));
      }
      step.actors[3] = space.started;
      step.design.plant.what = std::string(row.what) + (n % 2 == 0 ? ", near" : ", far");
      plants_.push_back(step.design.plant);
      steps_.push_back(std::move(step));
    }
    std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.from < b.from; });
  }

  // Emits all due pieces without a switch, which is possible because nothing else uses their locks.
  void plant(ThreadId t) {
    const bool orders_done = std::none_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.holds_up(); });
    for (Step& step : steps_) {
      if (step.from > count_) break;
      if (!step.orders && !orders_done) continue;
      while (step.next < step.design.pieces.size()) {
        const PlantPiece& piece = step.design.pieces[step.next];
        if (step.actors[piece.actor] != t || count_ < step.from + (piece.late ? step.distance : 0)) break;
        for (const PlantEvent& planted : piece.events) {
          TraceEvent event = planted.event;
          event.thread = step.actors[planted.actor];
          emit(event);
        }
        ++step.next;
      }
    }
    std::erase_if(steps_, [](const Step& step) { return step.next == step.design.pieces.size(); });
  }

  GeneratorOptions options_;
  const std::function<void(const TraceEvent&, std::uint32_t)>& sink_;
  Random random_;
  std::vector<Worker> workers_;  // by thread
  std::uint32_t group_size_ = 1, groups_ = 1;
  std::vector<Buffer> buffers_;  // by thread that fills it
  std::vector<ThreadId> lock_owner_;
  std::uint64_t count_ = 0;
  ThreadId next_thread_ = 0;
  std::vector<Step> steps_;
  std::vector<Plant> plants_;
};

}  // namespace

std::vector<Plant> generate(const GeneratorOptions& options,
                            const std::function<void(const TraceEvent&, std::uint32_t)>& sink) {
  return Generator(options, sink).run();
}

}  // namespace reweave::testing
