// Compares the vector clocks of hb with plain ones and with tree clocks (Mathur, Pavlogiannis, Tunc,
// Viswanathan, "A Tree Clock Data Structure for Causal Orderings in Concurrent Executions", ASPLOS 2022):
// clocks_benchmark [EVENTS]. It looks only at locks, starts and joins of generated traces; all three must agree on
// every clock.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/error.h"
#include "predictor/detectors/handed_clock.h"
#include "tests/predictor/generator.h"

using namespace reweave;

namespace {

struct Step {
  EventKind kind;
  ThreadId thread;
  std::uint32_t object;  // number of the lock, or the other thread
};

struct Work {
  std::uint32_t threads = 0, locks = 0;
  std::vector<Step> steps;
};

// A clock as a tree. The children of a thread are what it learned from others, latest first. So a join meets new
// entries before known ones, and stops at the first known one.
class TreeClock {
 public:
  explicit TreeClock(std::uint32_t threads) : nodes_(threads) {}
  void start(std::uint32_t thread) {
    root_ = thread;
    nodes_[thread].clock = 1;
  }
  void tick() { ++nodes_[root_].clock; }
  std::uint32_t operator[](std::uint32_t thread) const { return nodes_[thread].clock; }

  void join(const TreeClock& other) {
    if (other.root_ == kNobody || other.nodes_[other.root_].clock <= nodes_[other.root_].clock) return;
    take(other, kNobody);
    nodes_[other.root_].attached = nodes_[root_].clock;
    push(other.root_, root_);
  }
  // Becomes a copy of `other`, which must include this clock.
  void copy(const TreeClock& other) {
    take(other, root_);
    nodes_[other.root_].parent = kNobody;
    root_ = other.root_;
  }

 private:
  static constexpr std::uint32_t kNobody = ~0u;
  struct Node {
    std::uint32_t clock = 0, attached = 0;  // attached: the parent's clock when it learned this
    std::uint32_t parent = kNobody, first = kNobody, next = kNobody, before = kNobody;
  };

  void take(const TreeClock& other, std::uint32_t moved) {
    found_.clear();
    find_new(other, other.root_, moved);
    for (const std::uint32_t t : found_) detach(t);
    for (auto t = found_.rbegin(); t != found_.rend(); ++t) {
      const Node& from = other.nodes_[*t];
      nodes_[*t].clock = from.clock;
      nodes_[*t].attached = from.attached;
      if (*t != other.root_) push(*t, from.parent);
    }
  }
  void find_new(const TreeClock& other, std::uint32_t at, std::uint32_t moved) {
    for (std::uint32_t v = other.nodes_[at].first; v != kNobody; v = other.nodes_[v].next) {
      if (nodes_[v].clock < other.nodes_[v].clock) {
        find_new(other, v, moved);
        continue;
      }
      if (v == moved) found_.push_back(v);
      if (other.nodes_[v].attached <= nodes_[at].clock) break;
    }
    found_.push_back(at);
  }
  void detach(std::uint32_t t) {
    Node& node = nodes_[t];
    if (node.parent == kNobody) return;
    (node.before == kNobody ? nodes_[node.parent].first : nodes_[node.before].next) = node.next;
    if (node.next != kNobody) nodes_[node.next].before = node.before;
    node.parent = node.next = node.before = kNobody;
  }
  void push(std::uint32_t t, std::uint32_t parent) {
    Node& node = nodes_[t];
    node.parent = parent;
    node.before = kNobody;
    node.next = nodes_[parent].first;
    if (node.next != kNobody) nodes_[node.next].before = t;
    nodes_[parent].first = t;
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> found_;
  std::uint32_t root_ = kNobody;
};

// The common part of plain clocks and those of hb. Lock: the clock of a lock.
template <typename Lock>
struct ClocksOfThreads {
  explicit ClocksOfThreads(const Work& work) : locks(work.locks) {
    for (std::uint32_t t = 0; t < work.threads; ++t) threads.emplace_back(static_cast<ThreadId>(t));
  }
  void tell(ThreadId from, ThreadId to) {
    threads[to].learn(threads[from].clock);
    threads[from].tick();
  }
  std::uint32_t entry(ThreadId t, std::uint32_t of) const { return threads[t].clock[of]; }
  std::vector<ThreadClock> threads;
  std::vector<Lock> locks;
};

struct PlainClocks : ClocksOfThreads<VectorClock> {
  using ClocksOfThreads::ClocksOfThreads;
  void acquire(ThreadId t, std::uint32_t lock) { threads[t].learn(locks[lock]); }
  void release(ThreadId t, std::uint32_t lock) {
    locks[lock].join(threads[t].clock);
    threads[t].tick();
  }
};

struct HandedClocks : ClocksOfThreads<HandedClock> {
  using ClocksOfThreads::ClocksOfThreads;
  void acquire(ThreadId t, std::uint32_t lock) {
    if (!locks[lock].known_to(threads[t])) threads[t].learn(locks[lock].clock());
  }
  void release(ThreadId t, std::uint32_t lock) {
    locks[lock].add(threads[t]);
    threads[t].tick();
  }
};

struct TreeClocks {
  explicit TreeClocks(const Work& work)
      : threads(work.threads, TreeClock(work.threads)), locks(work.locks, TreeClock(work.threads)) {
    for (std::uint32_t t = 0; t < work.threads; ++t) threads[t].start(t);
  }
  void acquire(ThreadId t, std::uint32_t lock) { threads[t].join(locks[lock]); }
  void release(ThreadId t, std::uint32_t lock) {
    locks[lock].copy(threads[t]);
    threads[t].tick();
  }
  void tell(ThreadId from, ThreadId to) {
    threads[to].join(threads[from]);
    threads[from].tick();
  }
  std::uint32_t entry(ThreadId t, std::uint32_t of) const { return threads[t][of]; }
  std::vector<TreeClock> threads, locks;
};

Work work_of(std::uint64_t events, std::uint32_t threads, std::uint32_t slice) {
  testing::GeneratorOptions options;
  options.events = events;
  options.threads = threads;
  options.slice = slice;
  Work work;
  std::unordered_map<std::uint64_t, std::uint32_t> locks;
  testing::generate(options, [&](const TraceEvent& e, std::uint32_t) {
    work.threads = std::max(work.threads, e.thread + 1u);
    const bool other = e.kind == EventKind::kFork || e.kind == EventKind::kJoin;
    if (other) work.threads = std::max(work.threads, static_cast<std::uint32_t>(e.extra) + 1);
    if (!other && e.kind != EventKind::kLock && e.kind != EventKind::kUnlock) return;
    const auto lock = locks.try_emplace(e.address, static_cast<std::uint32_t>(locks.size())).first->second;
    work.steps.push_back({e.kind, e.thread, other ? static_cast<std::uint32_t>(e.extra) : lock});
  });
  work.locks = static_cast<std::uint32_t>(locks.size());
  return work;
}

// The best case for trees: each thread shares a lock with the first one, and learns of others only through it.
Work star(std::uint32_t threads, std::uint32_t count) {
  Work work{threads, threads, {}};
  std::mt19937 random(1);
  while (work.steps.size() < count) {
    const std::uint32_t lock = 1 + static_cast<std::uint32_t>(random()) % (threads - 1);
    const ThreadId t = random() % 2 == 0 ? ThreadId{0} : static_cast<ThreadId>(lock);
    work.steps.push_back({EventKind::kLock, t, lock});
    work.steps.push_back({EventKind::kUnlock, t, lock});
  }
  return work;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Clocks, typename After>
void replay(const Work& work, const After& after) {
  Clocks clocks(work);
  for (const Step& step : work.steps) {
    const auto other = static_cast<ThreadId>(step.object);
    switch (step.kind) {
      case EventKind::kLock:
        clocks.acquire(step.thread, step.object);
        break;
      case EventKind::kUnlock:
        clocks.release(step.thread, step.object);
        break;
      case EventKind::kFork:
        clocks.tell(step.thread, other);
        break;
      default:
        clocks.tell(other, step.thread);
    }
    after(clocks, step.thread);
  }
}

// Returns the median cost of 5 replays, in nanoseconds per step.
template <typename Clocks>
double cost(const Work& work) {
  std::vector<double> seconds;
  for (int run = 0; run < 5; ++run) {
    const double start = processor_seconds();
    replay<Clocks>(work, [](const Clocks&, ThreadId) {});
    seconds.push_back(processor_seconds() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
  return seconds[2] * 1e9 / static_cast<double>(work.steps.size());
}

// Returns a hash of all entries of the thread's clock after each step.
template <typename Clocks>
std::uint64_t fingerprint(const Work& work) {
  std::uint64_t result = 0;
  replay<Clocks>(work, [&](const Clocks& clocks, ThreadId t) {
    for (std::uint32_t of = 0; of < work.threads; ++of) result = (result ^ clocks.entry(t, of)) * 0x9e3779b97f4a7c15ull;
  });
  return result;
}

void compare(const char* what, const Work& work) {
  const std::uint64_t truth = fingerprint<PlainClocks>(work);
  CHECK(fingerprint<HandedClocks>(work) == truth, "the clocks of hb are wrong");
  CHECK(fingerprint<TreeClocks>(work) == truth, "the tree clocks are wrong");
  std::printf("%8u %10s %10zu %10.1f %10.1f %10.1f\n", work.threads, what, work.steps.size(), cost<PlainClocks>(work),
              cost<HandedClocks>(work), cost<TreeClocks>(work));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3'000'000;
  std::printf("%8s %10s %10s %10s %10s %10s   ns a step\n", "threads", "slice", "steps", "plain", "as in hb", "trees");
  for (const std::uint32_t threads : {4u, 16u, 32u, 128u}) {
    for (const std::uint32_t slice : {5u, 50u, 500u}) {
      compare(std::to_string(slice).c_str(), work_of(events, threads, slice));
    }
    compare("star", star(threads, static_cast<std::uint32_t>(events / 5)));
  }
}
