// What order violations have in common: one event of a thread executed before another thread gets to the event that the
// trace, or the program's intent, has first.
#pragma once

#include <algorithm>

#include "predictor/analysis.h"

namespace reweave {

struct OrderPattern {
  std::uint32_t number;  // tells the patterns of one analysis apart
  const char* name;
  double score;
};

// Proposes that `early` is executed while the thread of `late` is right before that, unless one of them always comes
// first.
inline void propose_order(const AnalysisInput& in, GroupTable& groups, const OrderPattern& pattern, EventIndex early,
                          EventIndex late) {
  if (in.order.ordered(late, early) || in.order.ordered(early, late)) return;
  Group& group = groups.group({pattern.number, in.model.site[early], in.model.site[late]});
  group.kind = FindingKind::kOrder;
  group.pattern = pattern.name;
  group.score = std::max(group.score, pattern.score);
  GroupTable::add(group, {{early, late}, {{early}, {late}}});
}

}  // namespace reweave
