// Must-order edges of conditions, barriers, semaphores, thread start and join, derived from the operations in trace
// order. Events are named by the caller's numbers ("raw" indices of TraceBuilder).
//
// Semaphores: a wait stays after every post and every wait that preceded it in the trace. That is more than necessary
// (the semaphore's initial value is unknown), so reorderings may be missed but none is wrong.
//
// Kernel objects: a receive stays after everything sent to the object before it, because the trace does not say which
// data was received. Here too, reorderings may be missed but none is wrong.
//
// Barriers: a trace does not say how many threads a barrier waits for. Each number that is consistent with the trace
// contributes its edges; usually that is one number and its divisors, whose edges are among those of the number.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

class SyncEdges {
 public:
  void wait_begin(std::uint64_t condition, ThreadId thread, std::uint32_t event);
  void notify(std::uint64_t condition, bool all, std::uint32_t event);
  void wait_end(std::uint64_t condition, ThreadId thread, bool timed_out, std::uint32_t event);
  void barrier_enter(std::uint64_t barrier, ThreadId thread, std::uint32_t event);
  void barrier_leave(std::uint64_t barrier, ThreadId thread, std::uint32_t event);
  void sem_post(std::uint64_t semaphore, ThreadId thread, std::uint32_t event);
  void sem_wait(std::uint64_t semaphore, std::uint32_t event);
  void send(std::uint64_t object, ThreadId thread, std::uint32_t event);
  void receive(std::uint64_t object, std::uint32_t event);

  // Returns the edges found, in raw indices, without duplicates. Call once, after all events.
  std::vector<MustEdge> take();

 private:
  struct Waiter {
    ThreadId thread;
    std::uint32_t begin;
    std::uint32_t notified_by;
  };
  struct Leave {
    std::uint32_t event;
    std::uint32_t entry;    // the thread's own entry: index in Barrier::entries
    std::uint32_t entered;  // entries before it in the trace
  };
  struct Barrier {
    std::vector<std::uint32_t> entries;  // events
    std::vector<Leave> leaves;
    std::unordered_map<ThreadId, std::uint32_t> last_entry;  // index in entries
  };
  struct Semaphore {
    std::unordered_map<ThreadId, std::uint32_t> last_post;
    std::uint32_t last_wait = kNone;
  };

  static bool may_wait_for(const Barrier& barrier, std::uint32_t threads);
  void add_edges_of(const Barrier& barrier);

  std::unordered_map<std::uint64_t, std::deque<Waiter>> waiters_;
  std::unordered_map<std::uint64_t, Barrier> barriers_;
  std::unordered_map<std::uint64_t, Semaphore> semaphores_;
  std::unordered_map<std::uint64_t, std::unordered_map<ThreadId, std::uint32_t>> last_sent_;  // by kernel object
  std::vector<MustEdge> edges_;
};

}  // namespace reweave
