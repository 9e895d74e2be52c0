// The common form of order violations: a thread executes an event before another thread reaches the event that comes
// first in the trace or in the program's intent.
#pragma once

#include <algorithm>

#include "predictor/decide/analysis.h"

namespace reweave {

struct OrderPattern {
  std::uint32_t number;  // distinguishes the patterns of one analysis
  const char* name;
  double score;
};

// The group of the pattern for the places of the two events.
inline Group& order_group(const AnalysisInput& in, GroupTable& groups, const OrderPattern& pattern, EventIndex early,
                          EventIndex late) {
  Group& group = groups.group({pattern.number, in.model.site[early], in.model.site[late]});
  group.kind = FindingKind::kOrder;
  group.pattern = pattern.name;
  group.score = std::max(group.score, pattern.score);
  return group;
}

// Proposes an order in which `early` is executed while the thread of `late` is right before `late`. Does nothing if one
// of them always comes first.
inline void propose_order(const AnalysisInput& in, GroupTable& groups, const OrderPattern& pattern, EventIndex early,
                          EventIndex late) {
  if (in.order.ordered(late, early) || in.order.ordered(early, late)) return;
  GroupTable::add(order_group(in, groups, pattern, early, late), {{early, late}, {{early}, {late}}});
}

}  // namespace reweave
