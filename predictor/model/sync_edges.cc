#include "predictor/model/sync_edges.h"

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
  b.last_entry[thread] = static_cast<std::uint32_t>(b.entries.size());
  b.entries.push_back(event);
}

void SyncEdges::barrier_leave(std::uint64_t barrier, ThreadId thread, std::uint32_t event) {
  Barrier& b = barriers_[barrier];
  const auto mine = b.last_entry.find(thread);
  if (mine == b.last_entry.end()) return;
  b.leaves.push_back({event, mine->second, static_cast<std::uint32_t>(b.entries.size())});
}

bool SyncEdges::may_wait_for(const Barrier& barrier, std::uint32_t threads) {
  return std::all_of(barrier.leaves.begin(), barrier.leaves.end(),
                     [&](const Leave& leave) { return leave.entered >= (leave.entry / threads + 1) * threads; });
}

void SyncEdges::add_edges_of(const Barrier& barrier) {
  if (barrier.leaves.empty()) return;
  std::vector<std::uint32_t> numbers;  // possible numbers of threads, the largest first
  for (std::uint32_t n = barrier.leaves.front().entered; n > 1; --n) {
    const bool divides = std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t m) { return m % n == 0; });
    if (!divides && may_wait_for(barrier, n)) numbers.push_back(n);
  }
  for (const Leave& leave : barrier.leaves) {
    std::vector<std::uint32_t> sources;
    for (const std::uint32_t n : numbers) {
      const auto first = barrier.entries.begin() + leave.entry / n * n;
      sources.insert(sources.end(), first, first + n);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    for (const std::uint32_t source : sources) edges_.push_back({leave.event, source});
  }
}

std::vector<MustEdge> SyncEdges::take() {
  for (const auto& [address, barrier] : barriers_) add_edges_of(barrier);
  barriers_.clear();
  return std::move(edges_);
}

void SyncEdges::sem_post(std::uint64_t semaphore, ThreadId thread, std::uint32_t event) {
  semaphores_[semaphore].last_post[thread] = event;
}

void SyncEdges::send(std::uint64_t object, ThreadId thread, std::uint32_t event) { last_sent_[object][thread] = event; }

void SyncEdges::receive(std::uint64_t object, std::uint32_t event) {
  const auto sent = last_sent_.find(object);
  if (sent == last_sent_.end()) return;
  for (const auto& [thread, last] : sent->second) edges_.push_back({event, last});
}

void SyncEdges::sem_wait(std::uint64_t semaphore, std::uint32_t event) {
  Semaphore& s = semaphores_[semaphore];
  for (const auto& [thread, post] : s.last_post) edges_.push_back({event, post});
  if (s.last_wait != kNone) edges_.push_back({event, s.last_wait});
  s.last_wait = event;
}

}  // namespace reweave
