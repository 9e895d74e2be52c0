// wcp: weak causal precedence (Kini, Mathur, Viswanathan, PLDI 2017). Critical sections of a lock are ordered only if
// events in them conflict or are ordered, which reveals races that the recorded order of sections hides.
//
// Sound up to the first report (which may be a deadlock instead); later ones may be wrong. Shared sections count as
// exclusive. Cost: clocks of k threads at each synchronisation and each access inside a section. Memory: besides live
// variables and locks, the clocks of sections that some thread has not yet followed, as in the published algorithm.
#include <algorithm>
#include <deque>

#include "predictor/detectors/detector.h"
#include "predictor/detectors/shadow.h"
#include "predictor/detectors/vector_clock.h"

namespace reweave {
namespace {

struct ClockedAccess {
  std::uint32_t clock = 0, site = 0;
};
struct WcpCell {
  std::vector<ClockedAccess> reads, writes;  // by thread
};

class Wcp : public Detector {
 public:
  void take(const TraceChunk& chunk) override {
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const ThreadId t = chunk.thread[i];
      grow(t);
      event_ = chunk.first_event + i;
      const EventKind kind = chunk.kind[i];
      if (kind == EventKind::kRead || kind == EventKind::kWrite) {
        access(t, chunk.address[i], chunk.extra[i], chunk.site[i], kind == EventKind::kWrite);
      } else {
        synchronise(t, chunk, i);
      }
    }
  }

  std::vector<RaceReport> finish() override { return reports_.take(); }

 private:
  struct Section {
    std::uint64_t lock;
    std::uint32_t depth;
    std::vector<std::uint64_t> reads, writes;  // 8-byte words
  };
  struct Thread {
    VectorClock weak;    // P: weak order; its own entry is the local time
    VectorClock strong;  // H: happens-before; likewise
    std::vector<Section> sections;
    std::uint64_t waiting = 0;
  };
  struct Clocks {
    VectorClock weak, strong;
  };
  // A past section, with the clocks that other threads need.
  struct Past {
    ThreadId thread;
    VectorClock start, end;  // weak at the acquisition, strong at the release
  };
  struct Lock {
    Clocks released;
    std::unordered_map<std::uint64_t, VectorClock> readers, writers;  // by word: strong at the release
    std::deque<Past> past;
    std::vector<std::size_t> met;  // by thread: how many of `past` it has followed
  };

  void grow(std::size_t t) {
    while (t >= threads_.size()) {
      threads_.emplace_back();
      threads_.back().weak.at(threads_.size() - 1) = 1;
      threads_.back().strong.at(threads_.size() - 1) = 1;
    }
  }
  void tick(ThreadId t) { threads_[t].strong.at(t) = ++threads_[t].weak.at(t); }

  void access(ThreadId t, std::uint64_t address, std::uint64_t bytes, std::uint32_t site, bool write) {
    Thread& me = threads_[t];
    const std::uint64_t last = (address + std::max<std::uint64_t>(bytes, 1) - 1) >> 3;
    for (Section& section : me.sections) {
      Lock& lock = locks_[section.lock];
      for (std::uint64_t word = address >> 3; word <= last; ++word) {
        if (const auto it = lock.writers.find(word); it != lock.writers.end()) follow(t, it->second);
        if (write) {
          if (const auto it = lock.readers.find(word); it != lock.readers.end()) follow(t, it->second);
        }
        auto& words = write ? section.writes : section.reads;
        if (words.empty() || words.back() != word) words.push_back(word);
      }
    }
    const std::uint32_t now = me.weak[t];
    shadow_.access(address, bytes, [&](WcpCell& cell) {
      compare(t, address, site, write, cell.writes, true);
      if (write) compare(t, address, site, write, cell.reads, false);
      auto& mine = write ? cell.writes : cell.reads;
      if (t >= mine.size()) mine.resize(t + std::size_t{1});
      mine[t] = {now, site};
    });
  }
  // Joins `strong` into the weak clock, without changing the thread's own entry.
  void follow(ThreadId t, const VectorClock& strong) {
    const std::uint32_t now = threads_[t].weak[t];
    threads_[t].weak.join(strong);
    threads_[t].weak.at(t) = now;
  }
  void compare(ThreadId t, std::uint64_t address, std::uint32_t site, bool write,
               const std::vector<ClockedAccess>& others, bool others_write) {
    for (std::size_t other = 0; other < others.size(); ++other) {
      if (other == t || others[other].clock <= threads_[t].weak[other]) continue;
      reports_.add({others[other].site, static_cast<ThreadId>(other), others_write}, {site, t, write}, address, event_);
    }
  }

  void lock(ThreadId t, std::uint64_t address) {
    Thread& me = threads_[t];
    for (Section& section : me.sections) {
      if (section.lock == address) return void(++section.depth);
    }
    Lock& lock = locks_[address];
    me.strong.join(lock.released.strong);
    follow(t, lock.released.weak);
    lock.past.push_back({t, me.weak, {}});
    me.sections.push_back({address, 1, {}, {}});
  }

  void unlock(ThreadId t, std::uint64_t address) {
    Thread& me = threads_[t];
    const auto section =
        std::find_if(me.sections.begin(), me.sections.end(), [&](const Section& s) { return s.lock == address; });
    if (section == me.sections.end() || --section->depth > 0) return;
    Lock& lock = locks_[address];
    meet(t, lock);
    for (std::uint64_t word : section->reads) lock.readers[word].join(me.strong);
    for (std::uint64_t word : section->writes) lock.writers[word].join(me.strong);
    me.sections.erase(section);
    lock.past.back().end = me.strong;
    lock.released = {me.weak, me.strong};
    // This thread's entry is its local time, which is not part of the weak order, so it is not passed on.
    lock.released.weak.at(t) = 0;
    tick(t);
  }

  // A section whose start weakly precedes this point also precedes the end of this section.
  void meet(ThreadId t, Lock& lock) {
    if (t >= lock.met.size()) lock.met.resize(threads_.size());
    std::size_t& met = lock.met[t];
    for (; met < lock.past.size(); ++met) {
      const Past& past = lock.past[met];
      if (past.thread == t) continue;
      if (!past.start.below(threads_[t].weak)) break;
      follow(t, past.end);
    }
  }

  void publish(ThreadId t, Clocks& to) {
    to.weak.join(threads_[t].weak);
    to.strong.join(threads_[t].strong);
    tick(t);
  }
  void learn(ThreadId t, const Clocks& from) {
    follow(t, from.weak);
    threads_[t].strong.join(from.strong);
  }

  void synchronise(ThreadId t, const TraceChunk& chunk, std::size_t i) {
    const std::uint64_t address = chunk.address[i], extra = chunk.extra[i];
    switch (chunk.kind[i]) {
      case EventKind::kAtomicLoad:
      case EventKind::kReceive:
      case EventKind::kBarrierLeave:
      case EventKind::kSemWait:
        return learn(t, objects_[address]);
      case EventKind::kAtomicStore:
        objects_[address] = {};
        return publish(t, objects_[address]);
      case EventKind::kAtomicRmw:
        learn(t, objects_[address]);
        return publish(t, objects_[address]);
      case EventKind::kLock:
        return lock(t, address);
      case EventKind::kUnlock:
        return unlock(t, address);
      case EventKind::kWaitBegin:
        threads_[t].waiting = extra;
        return unlock(t, extra);
      case EventKind::kWaitEnd:
        learn(t, objects_[address]);
        return lock(t, threads_[t].waiting);
      case EventKind::kNotify:
      case EventKind::kBarrierEnter:
      case EventKind::kSemPost:
      case EventKind::kSend:
        return publish(t, objects_[address]);
      case EventKind::kFork: {
        grow(extra);
        Clocks start;
        publish(t, start);
        return learn(static_cast<ThreadId>(extra), start);
      }
      case EventKind::kJoin:
        grow(extra);
        return learn(t, {threads_[extra].weak, threads_[extra].strong});
      case EventKind::kAlloc:
        return shadow_.forget(address, extra);
      default:
        return;
    }
  }

  std::uint64_t event_ = 0;
  std::vector<Thread> threads_;
  Shadow<WcpCell> shadow_;
  std::unordered_map<std::uint64_t, Lock> locks_;
  std::unordered_map<std::uint64_t, Clocks> objects_;
  RaceReports reports_;
};

}  // namespace

std::unique_ptr<Detector> make_wcp() { return std::make_unique<Wcp>(); }

}  // namespace reweave
