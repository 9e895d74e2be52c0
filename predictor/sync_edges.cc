#include "predictor/sync_edges.h"

#include <algorithm>

namespace reweave {

void SyncEdges::wait_begin(std::uint64_t condition, ThreadId thread, std::uint32_t event) {
  waiters_[condition].push_back({thread, event, kNone});
}

void SyncEdges::notify(std::uint64_t condition, bool all, std::uint32_t event) {
  for (Waiter& waiter : waiters_[condition]) {
    if (waiter.notified_by != kNone) continue;
    waiter.notified_by = event;
    if (!all) return;
  }
}

void SyncEdges::wait_end(std::uint64_t condition, ThreadId thread, bool timed_out, std::uint32_t event) {
  auto& queue = waiters_[condition];
  auto it = std::find_if(queue.begin(), queue.end(), [&](const Waiter& w) { return w.thread == thread; });
  if (it == queue.end()) return;
  if (!timed_out && it->notified_by != kNone) edges_.push_back({event, it->notified_by, it->begin});
  queue.erase(it);
}

void SyncEdges::barrier_enter(std::uint64_t barrier, ThreadId thread, std::uint32_t event) {
  Barrier& b = barriers_[barrier];
  b.entering.push_back(event);
  b.generation_of[thread] = b.generation;
}

void SyncEdges::barrier_leave(std::uint64_t barrier, ThreadId thread, std::uint32_t event) {
  Barrier& b = barriers_[barrier];
  auto mine = b.generation_of.find(thread);
  if (mine == b.generation_of.end()) return;
  if (mine->second == b.generation) {  // the first to leave: everyone has entered
    b.complete[b.generation++] = std::move(b.entering);
    b.entering.clear();
    b.complete.erase(b.generation - 3);  // nobody can still be two generations behind
  }
  for (std::uint32_t entry : b.complete[mine->second]) edges_.push_back({event, entry});
}

void SyncEdges::sem_post(std::uint64_t semaphore, ThreadId thread, std::uint32_t event) {
  semaphores_[semaphore].last_post[thread] = event;
}

void SyncEdges::sem_wait(std::uint64_t semaphore, std::uint32_t event) {
  Semaphore& s = semaphores_[semaphore];
  for (const auto& [thread, post] : s.last_post) edges_.push_back({event, post});
  if (s.last_wait != kNone) edges_.push_back({event, s.last_wait});
  s.last_wait = event;
}

}  // namespace reweave
