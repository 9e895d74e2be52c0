#include "predictor/decide/order_graph.h"

#include <algorithm>

namespace reweave {

std::uint32_t OrderGraph::successor(Place a, std::uint32_t thread) const {
  if (thread == a.thread) return a.position;
  const auto& all = steps(a.thread, thread);
  if (all.empty() || all.back().from < a.position) return kNone;  // the common case: orders are inserted in trace order
  auto it = std::partition_point(all.begin(), all.end(), [&](const Step& s) { return s.from < a.position; });
  return it == all.end() ? kNone : it->to;
}

std::uint32_t OrderGraph::predecessor(Place b, std::uint32_t thread) const {
  if (thread == b.thread) return b.position;
  const auto& all = steps(thread, b.thread);
  if (all.empty() || all.back().to <= b.position) return all.empty() ? kNone : all.back().from;
  auto it = std::partition_point(all.begin(), all.end(), [&](const Step& s) { return s.to <= b.position; });
  return it == all.begin() ? kNone : (it - 1)->from;
}

bool OrderGraph::insert(Place a, Place b) {
  auto& all = steps(a.thread, b.thread);
  auto at = std::partition_point(all.begin(), all.end(), [&](const Step& s) { return s.from < a.position; });
  if (at != all.end() && at->to <= b.position) return false;
  // Steps that start no later and end no earlier are implied by the new one.
  auto last = at;
  if (last != all.end() && last->from == a.position) ++last;
  auto first = at;
  while (first != all.begin() && (first - 1)->to >= b.position) --first;
  const Step step{a.position, b.position};
  if (first == last) {
    all.insert(first, step);
    return true;
  }
  *first = step;
  all.erase(first + 1, last);
  return true;
}

}  // namespace reweave
