#include "recorder/core/schedule/countdown.h"

#include "recorder/core/schedule/deadlock.h"

namespace reweave::core {

void settle(Thread& me, std::int64_t left) {
  const std::int64_t done = points_done(me);
  set_budget(me, left);
  if (done == 0) return;
  state().step += static_cast<std::uint64_t>(done);
  me.ticks += static_cast<std::uint64_t>(done);
  if (config().tick_budget != 0 && state().step > config().tick_budget)
    end_run(wire::OutcomeKind::kHang, wire::kNeverEnds);
}

}  // namespace reweave::core
