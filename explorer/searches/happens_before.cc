#include "explorer/searches/happens_before.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>

namespace reweave {

namespace {

// Conflicts are sought only among this many earlier operations on an object: a waiting loop makes thousands of reads
// that conflict with nothing.
constexpr std::size_t kFarthestConflict = 512;

}  // namespace

HappensBefore::HappensBefore(const Observation& run, bool by_conflicts) : run_(run), threads_(run.threads()) {
  find_attempts();
  compute(by_conflicts);
}

void HappensBefore::find_attempts() {
  counts_.assign(run_.size(), true);
  std::vector<std::int64_t> last(threads_, -1);
  for (std::size_t i = 0; i < run_.size(); i++) {
    std::int64_t& before = last[run_[i].thread];
    if (run_.resumed(i) && before >= 0 && kind_of(run_[i]) == OpKind::kLock)
      counts_[static_cast<std::size_t>(before)] = false;
    before = static_cast<std::int64_t>(i);
  }
}

void HappensBefore::join(std::uint32_t* to, const std::uint32_t* from) const {
  for (std::size_t t = 0; t < threads_; t++) to[t] = std::max(to[t], from[t]);
}

void HappensBefore::compute(bool by_conflicts) {
  clocks_.assign(run_.size() * threads_, 0);
  starts_.assign(run_.size() * threads_, 0);
  list_of_.assign(run_.size(), -1);
  std::unordered_map<std::uint64_t, std::int64_t> lists;
  std::vector<std::uint32_t> present(threads_ * threads_, 0);  // clock of each thread
  std::vector<bool> could_run(threads_, false);
  std::vector<std::size_t> last_choice(threads_, 0);
  for (std::size_t i = 0; i < run_.size(); i++) last_choice[run_[i].thread] = i;
  for (std::size_t i = 0; i < run_.size(); i++) {
    // A thread that can run now and could not before was created or woken by the previous choice.
    std::vector<bool> can_run(threads_, false);
    for (const ThreadId id : run_.enabled(i)) {
      if (id >= threads_) continue;
      can_run[id] = true;
      if (i > 0 && !could_run[id] && run_[i - 1].thread != id) join(&present[id * threads_], clock(i - 1));
    }
    could_run = std::move(can_run);
    const ThreadId me = run_[i].thread;
    std::uint32_t* mine = &present[me * threads_];
    if (kind_of(run_[i]) == OpKind::kJoin)  // it is unknown which thread is joined: use all that have ended
      for (std::size_t t = 0; t < threads_; t++)
        if (t != me && last_choice[t] < i && present[t * threads_ + t] != 0) join(mine, &present[t * threads_]);
    std::copy_n(mine, threads_, &starts_[i * threads_]);
    if (run_[i].object != 0 && counts_[i]) {
      const auto [at, added] =
          lists.try_emplace(run_[i].object & ~std::uint64_t{7}, static_cast<std::int64_t>(by_granule_.size()));
      if (added) by_granule_.emplace_back();
      list_of_[i] = at->second;
      if (by_conflicts)
        for (const std::size_t j : conflicts_of(i, false)) join(mine, clock(j));
      by_granule_[static_cast<std::size_t>(at->second)].push_back(static_cast<std::uint32_t>(i));
    }
    mine[me] = static_cast<std::uint32_t>(i) + 1;
    std::copy_n(mine, threads_, &clocks_[i * threads_]);
  }
}

std::span<const std::uint32_t> HappensBefore::earlier_on_object(std::size_t i) const {
  if (list_of_[i] < 0) return {};
  const auto& list = by_granule_[static_cast<std::size_t>(list_of_[i])];
  const auto end = std::lower_bound(list.begin(), list.end(), i);
  return {end - std::min<std::ptrdiff_t>(end - list.begin(), kFarthestConflict), end};
}

// For each other thread, its latest choice before i that conflicts with i; the latest of them first. If `locks_only`,
// only choices that take a lock are considered.
std::vector<std::size_t> HappensBefore::conflicts_of(std::size_t i, bool locks_only) const {
  std::vector<std::size_t> found;
  std::vector<bool> seen(threads_, false);
  for (const std::size_t j : earlier_on_object(i) | std::views::reverse) {
    const ThreadId other = run_[j].thread;
    if (other == run_[i].thread || seen[other] || !dependent(run_[j], run_[i])) continue;
    if (locks_only && kind_of(run_[j]) != OpKind::kLock) continue;
    seen[other] = true;
    found.push_back(j);
  }
  return found;
}

std::vector<std::size_t> HappensBefore::races_of(std::size_t i) const {
  if (!counts_[i] || kind_of(run_[i]) == OpKind::kUnlock) return {};
  // A lock and an unlock are never enabled together; only two locks can be exchanged.
  const bool is_lock = kind_of(run_[i]) == OpKind::kLock;
  std::vector<std::size_t> races;
  for (const std::size_t j : conflicts_of(i, is_lock)) {
    if (before_start(j, i)) continue;
    bool direct = true;
    for (const std::size_t k : races) direct = direct && !before(j, k);
    if (direct) races.push_back(j);
  }
  return races;
}

std::vector<std::size_t> HappensBefore::conflicts_not_before(std::size_t i) const {
  if (!counts_[i] || kind_of(run_[i]) == OpKind::kUnlock) return {};
  const bool is_lock = kind_of(run_[i]) == OpKind::kLock;
  std::vector<std::size_t> found;
  for (const std::size_t j : earlier_on_object(i) | std::views::reverse)
    if (run_[j].thread != run_[i].thread && dependent(run_[j], run_[i]) && !before_start(j, i) &&
        (!is_lock || kind_of(run_[j]) == OpKind::kLock))
      found.push_back(j);
  return found;
}

}  // namespace reweave
