#include "explorer/campaign/sharing.h"

#include <algorithm>
#include <set>

namespace reweave {

namespace {

// For each choice: true if another thread may be active at the same time. False before any other thread was created,
// and for a thread that has joined all others, once none is left.
std::vector<bool> in_company(const Observation& run) {
  std::vector<std::size_t> last(run.threads(), 0), born(run.threads(), run.size());
  for (std::size_t i = 0; i < run.size(); i++) {
    last[run[i].thread] = i;
    for (const ThreadId id : run.enabled(i))
      if (id < born.size()) born[id] = std::min(born[id], i);
  }
  std::vector<int> births(run.size() + 1, 0), deaths(run.size() + 1, 0);
  for (std::size_t t = 0; t < born.size(); t++)
    if (born[t] < run.size()) births[born[t]]++, deaths[std::max(last[t], born[t]) + 1]++;
  std::vector<bool> company(run.size());
  std::vector<int> joins(run.threads(), 0);
  int all = 0, dead = 0;
  for (std::size_t i = 0; i < run.size(); i++) {
    all += births[i];
    dead += deaths[i];
    if (kind_of(run[i]) == OpKind::kJoin && !run.resumed(i)) joins[run[i].thread]++;
    company[i] = all - dead > 1 || joins[run[i].thread] < all - 1;
  }
  return company;
}

// A block's release conflicts with all earlier accesses of the block.
void add_release(const Observation& run, std::size_t i, std::map<std::uint64_t, std::vector<std::size_t>>& by_granule) {
  const std::uint64_t first = run[i].object & ~std::uint64_t{7};
  const auto end = by_granule.lower_bound(run[i].object + run[i].detail);
  for (auto at = by_granule.lower_bound(first); at != end; ++at)
    if (at->second.front() < i && at->first != first)
      at->second.insert(std::upper_bound(at->second.begin(), at->second.end(), i), i);
}

bool shared(const Observation& run, const std::vector<std::size_t>& operations) {
  bool written = false, two = false;
  for (const std::size_t i : operations) {
    written = written || run[i].is_write != 0 || is_sync(run[i]);
    two = two || run[i].thread != run[operations.front()].thread;
  }
  return written && two;
}

}  // namespace

std::vector<SharedObject> shared_objects(const Observation& run) {
  const std::vector<bool> company = in_company(run);
  std::map<std::uint64_t, std::vector<std::size_t>> by_granule;
  std::vector<std::size_t> releases;
  for (std::size_t i = 0; i < run.size(); i++) {
    const OpKind kind = kind_of(run[i]);
    if (is_release(run[i]) && company[i]) releases.push_back(i);
    const bool counts = kind == OpKind::kAccess || kind == OpKind::kAtomic || is_sync(run[i]);
    if (counts && company[i] && run[i].object != 0 && !run.resumed(i))
      by_granule[run[i].object & ~std::uint64_t{7}].push_back(i);
  }
  for (const std::size_t i : releases) add_release(run, i, by_granule);
  std::vector<SharedObject> objects;
  for (auto& [granule, operations] : by_granule)
    if (shared(run, operations)) objects.push_back({granule, std::move(operations)});
  return objects;
}

}  // namespace reweave
