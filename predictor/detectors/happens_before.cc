// hb: happens-before with epochs, after FastTrack (Flanagan, Freund, PLDI 2009). shb: the same, but each write also
// comes before the reads that see it, after "What happens-after the first race?" (Mathur, Kini, Viswanathan, OOPSLA
// 2018).
//
// hb reports a race on each variable that has one; only the first one of the trace is certain to be feasible. Every
// report of shb is feasible. Cost: an epoch comparison for most accesses, a clock of k threads for each
// synchronisation. Memory: a cell of 32 bytes for 8 bytes of memory accessed, a clock for each lock, atomic and
// variable read by several threads; for shb a clock for each time that a thread learned of others and then wrote a
// value not overwritten since.
#include "predictor/detectors/address_table.h"
#include "predictor/detectors/detector.h"
#include "predictor/detectors/handed_clock.h"
#include "predictor/detectors/shadow.h"
#include "predictor/detectors/vector_clock.h"

namespace reweave {
namespace {

constexpr std::uint32_t kNoSnapshot = 0xffffffffu;
constexpr ThreadId kMany = 0xffff;  // as the thread of a read: see EpochCell::read_clock

struct EpochCell {
  std::uint32_t write_clock = 0, read_clock = 0;  // 0: none; reads by several threads: index in read_sets_
  std::uint32_t write_site = 0, read_site = 0;
  ThreadId write_thread = 0, read_thread = 0;
  std::uint32_t snapshot = kNoSnapshot;  // the writer's clock at the write
};

// Clocks that many cells share.
class Snapshots {
 public:
  std::uint32_t add(const VectorClock& clock) {
    if (free_.empty()) {
      entries_.push_back({clock, 1});
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    entries_[id] = {clock, 1};
    return id;
  }
  void keep(std::uint32_t id) { ++entries_[id].users; }
  void drop(std::uint32_t id) {
    if (id != kNoSnapshot && --entries_[id].users == 0) free_.push_back(id);
  }
  const VectorClock& operator[](std::uint32_t id) const { return entries_[id].clock; }

 private:
  struct Entry {
    VectorClock clock;
    std::uint32_t users;
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

// Events between prefetching a cell and using it.
constexpr std::size_t kAhead = 12;

class HappensBefore : public Detector {
 public:
  explicit HappensBefore(bool read_after_write) : read_after_write_(read_after_write) {}

  void take(const TraceChunk& chunk) override {
    const std::size_t size = chunk.size();
    for (std::size_t i = 0; i < size; ++i) {
      if (i + kAhead < size) shadow_.prefetch(chunk.address[i + kAhead]);
      const ThreadId t = chunk.thread[i];
      if (t >= threads_.size()) grow(t);
      event_ = chunk.first_event + i;
      switch (chunk.kind[i]) {
        case EventKind::kRead:
          read(t, chunk.address[i], chunk.extra[i], chunk.site[i]);
          break;
        case EventKind::kWrite:
          write(t, chunk.address[i], chunk.extra[i], chunk.site[i]);
          break;
        default:
          synchronise(t, chunk, i);
      }
    }
  }

  std::vector<RaceReport> finish() override { return reports_.take(); }

 private:
  struct Thread : ThreadClock {
    using ThreadClock::ThreadClock;
    std::uint32_t snapshot = kNoSnapshot;  // copy of its clock, if no other thread's entry has changed since
  };
  struct Lock {
    HandedClock exclusive, shared;  // at the last releases
  };
  struct Reader {
    std::uint32_t clock = 0, site = 0;
  };

  void grow(ThreadId t) {
    while (threads_.size() <= t) threads_.emplace_back(static_cast<ThreadId>(threads_.size()));
  }
  bool knows(ThreadId t, ThreadId other, std::uint32_t clock) const { return clock <= threads_[t].clock[other]; }

  void report(ThreadId t, std::uint64_t address, std::uint32_t site, bool writes, const AccessMark& before) {
    reports_.add(before, {site, t, writes}, address, event_);
  }

  void read(ThreadId t, std::uint64_t address, std::uint64_t bytes, std::uint32_t site) {
    shadow_.access(
        address, bytes,
        [&](EpochCell& cell) {
          const Thread& me = threads_[t];
          if (!read_after_write_ && cell.read_thread == t && cell.read_clock == me.now) return;
          if (cell.write_clock != 0 && cell.write_thread != t && !knows(t, cell.write_thread, cell.write_clock)) {
            report(t, address, site, false, {cell.write_site, cell.write_thread, true});
            if (read_after_write_) learn_write(t, cell);
          }
          remember_read(t, cell, site);
        },
        [this](EpochCell& cell) { own(cell); });
  }

  void remember_read(ThreadId t, EpochCell& cell, std::uint32_t site) {
    const std::uint32_t now = threads_[t].now;
    if (cell.read_thread == kMany) {
      reader(read_sets_[cell.read_clock], t) = {now, site};
    } else if (cell.read_clock == 0 || cell.read_thread == t || knows(t, cell.read_thread, cell.read_clock)) {
      cell.read_clock = now;
      cell.read_thread = t;
      cell.read_site = site;
    } else {
      const std::uint32_t set = new_read_set();
      reader(read_sets_[set], cell.read_thread) = {cell.read_clock, cell.read_site};
      reader(read_sets_[set], t) = {now, site};
      cell.read_thread = kMany;
      cell.read_clock = set;
    }
  }

  void write(ThreadId t, std::uint64_t address, std::uint64_t bytes, std::uint32_t site) {
    shadow_.access(
        address, bytes,
        [&](EpochCell& cell) {
          if (cell.write_clock != 0 && cell.write_thread != t && !knows(t, cell.write_thread, cell.write_clock)) {
            report(t, address, site, true, {cell.write_site, cell.write_thread, true});
          }
          if (cell.read_thread == kMany) {
            auto& readers = read_sets_[cell.read_clock];
            for (std::size_t other = 0; other < readers.size(); ++other) {
              const auto thread = static_cast<ThreadId>(other);
              if (thread == t || readers[other].clock == 0 || knows(t, thread, readers[other].clock)) continue;
              report(t, address, site, true, {readers[other].site, thread, false});
            }
            free_read_sets_.push_back(cell.read_clock);
          } else if (cell.read_clock != 0 && cell.read_thread != t && !knows(t, cell.read_thread, cell.read_clock)) {
            report(t, address, site, true, {cell.read_site, cell.read_thread, false});
          }
          cell.read_clock = 0;
          cell.read_thread = t;
          cell.write_clock = threads_[t].now;
          cell.write_thread = t;
          cell.write_site = site;
          if (read_after_write_) keep_snapshot(t, cell);
        },
        [this](EpochCell& cell) { own(cell); });
    if (read_after_write_) threads_[t].tick();  // a later read must distinguish this write from the next
  }

  // Gives a copied cell its own references and read set.
  void own(EpochCell& cell) {
    if (cell.snapshot != kNoSnapshot) snapshots_.keep(cell.snapshot);
    if (cell.read_thread != kMany) return;
    const std::uint32_t set = new_read_set();
    read_sets_[set] = read_sets_[cell.read_clock];
    cell.read_clock = set;
  }

  static Reader& reader(std::vector<Reader>& readers, ThreadId t) {
    if (t >= readers.size()) readers.resize(t + std::size_t{1});
    return readers[t];
  }
  std::uint32_t new_read_set() {
    if (free_read_sets_.empty()) {
      read_sets_.emplace_back();
      return static_cast<std::uint32_t>(read_sets_.size() - 1);
    }
    const std::uint32_t set = free_read_sets_.back();
    free_read_sets_.pop_back();
    read_sets_[set].clear();
    return set;
  }

  // --- shb ---

  void learn_write(ThreadId t, const EpochCell& cell) {
    learn(t, snapshots_[cell.snapshot]);
    Thread& me = threads_[t];
    std::uint32_t& entry = me.clock.at(cell.write_thread);
    entry = std::max(entry, cell.write_clock);
    ++me.learned;
    forget_snapshot(t);
  }
  void keep_snapshot(ThreadId t, EpochCell& cell) {
    Thread& me = threads_[t];
    if (me.snapshot == kNoSnapshot) me.snapshot = snapshots_.add(me.clock);
    if (cell.snapshot == me.snapshot) return;
    snapshots_.keep(me.snapshot);
    snapshots_.drop(cell.snapshot);
    cell.snapshot = me.snapshot;
  }
  void forget_snapshot(ThreadId t) {
    snapshots_.drop(threads_[t].snapshot);
    threads_[t].snapshot = kNoSnapshot;
  }

  // --- synchronisation ---

  void learn(ThreadId t, const VectorClock& clock) {
    if (threads_[t].learn(clock)) forget_snapshot(t);
  }
  void learn(ThreadId t, const HandedClock& handed) {
    if (!handed.known_to(threads_[t])) learn(t, handed.clock());
  }
  void publish(ThreadId t, HandedClock& to) {
    to.add(threads_[t]);
    threads_[t].tick();
  }
  // Passes the clock of `from` to `to`, at a start or a join.
  void tell(ThreadId from, ThreadId to) {
    if (to >= threads_.size()) grow(to);
    learn(to, threads_[from].clock);
    threads_[from].tick();
  }

  void synchronise(ThreadId t, const TraceChunk& chunk, std::size_t i) {
    const std::uint64_t address = chunk.address[i], extra = chunk.extra[i];
    const bool shared = chunk.aux[i] == static_cast<std::uint8_t>(LockMode::kShared);
    switch (chunk.kind[i]) {
      case EventKind::kAtomicLoad:
        return learn(t, objects_[address]);
      case EventKind::kAtomicStore:
        objects_[address].set(threads_[t]);
        return threads_[t].tick();
      case EventKind::kAtomicRmw: {
        HandedClock& object = objects_[address];
        learn(t, object);
        return publish(t, object);
      }
      case EventKind::kLock:
        return lock(t, address, shared);
      case EventKind::kUnlock:
        return unlock(t, address, shared);
      case EventKind::kWaitBegin:
        waiting_[t] = extra;
        return unlock(t, extra, false);
      case EventKind::kWaitEnd:
        learn(t, objects_[address]);
        return lock(t, waiting_[t], false);
      case EventKind::kNotify:
      case EventKind::kBarrierEnter:
      case EventKind::kSemPost:
      case EventKind::kSend:
        return publish(t, objects_[address]);
      case EventKind::kReceive:
      case EventKind::kBarrierLeave:
      case EventKind::kSemWait:
        return learn(t, objects_[address]);
      case EventKind::kFork:
        return tell(t, static_cast<ThreadId>(extra));
      case EventKind::kJoin:
        return extra < threads_.size() ? tell(static_cast<ThreadId>(extra), t) : void();
      case EventKind::kAlloc:
        return shadow_.forget(address, extra);
      default:
        return;
    }
  }

  void lock(ThreadId t, std::uint64_t address, bool shared) {
    const Lock& lock = locks_[address];
    learn(t, lock.exclusive);
    if (!shared) learn(t, lock.shared);
  }
  void unlock(ThreadId t, std::uint64_t address, bool shared) {
    Lock& lock = locks_[address];
    publish(t, shared ? lock.shared : lock.exclusive);
  }

  bool read_after_write_;
  std::uint64_t event_ = 0;
  std::vector<Thread> threads_;
  Shadow<EpochCell> shadow_;
  AddressTable<Lock> locks_;
  AddressTable<HandedClock> objects_;                    // atomics, conditions, barriers, semaphores
  std::unordered_map<ThreadId, std::uint64_t> waiting_;  // mutex to reacquire
  std::vector<std::vector<Reader>> read_sets_;           // by thread
  std::vector<std::uint32_t> free_read_sets_;
  Snapshots snapshots_;
  RaceReports reports_;
};

}  // namespace

std::unique_ptr<Detector> make_hb() { return std::make_unique<HappensBefore>(false); }
std::unique_ptr<Detector> make_shb() { return std::make_unique<HappensBefore>(true); }

}  // namespace reweave
