#include "recorder/supervisor/target/baton.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/live_threads.h"

namespace reweave {

bool take_free_baton(RuntimeState& state) {
  std::uint32_t free = 0;
  return state.holder.compare_exchange_strong(free, kSupervisorHolds);
}

void free_baton(RuntimeState& state) {
  state.holder.store(0);
  for (Thread& thread : awake_threads(state)) {  // each takes the baton if it can run
    thread.go.fetch_or(kGoAttention);
    syscall(SYS_futex, &thread.go, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

bool take_lent_baton(RuntimeState& state, Thread& holder) {
  std::uint32_t lends = kMayTake;
  if (!holder.lends.compare_exchange_strong(lends, kTaking)) return false;
  holder.state.store(ThreadState::kInKernel);
  state.last_holder = holder.id;
  state.last_reason = wire::SwitchReason::kInKernel;
  free_baton(state);
  holder.lends.store(kTaken);
  return true;
}

}  // namespace reweave
