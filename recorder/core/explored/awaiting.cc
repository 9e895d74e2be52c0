#include "recorder/core/explored/awaiting.h"

#include "recorder/core/explored/outside.h"
#include "recorder/core/schedule/waits.h"

namespace reweave::core {

namespace {

// By thread. Explored runs have one process.
const Awaited* awaited_by[kMaxThreads];

template <typename Use>
void for_each_waiting(const Use& use) {
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    const Thread& thread = thread_of(s.live[i]);
    if (awaited_by[thread.id] != nullptr) use(thread, *awaited_by[thread.id]);
  }
}

}  // namespace

WaitResult wait_until(const Awaited& awaited, std::int64_t deadline) {
  const ThreadId me = self().id;
  WaitResult result = WaitResult::kWoken;
  awaited_by[me] = &awaited;
  while (result == WaitResult::kWoken && !awaited.holds(awaited.what)) result = sleep_modelled(deadline);
  awaited_by[me] = nullptr;
  return result;
}

void wake_satisfied() {
  for_each_waiting([](const Thread& thread, const Awaited& awaited) {
    if (thread.state.load() == ThreadState::kBlocked && awaited.holds(awaited.what)) wake_sleeper(thread);
  });
}

bool outside_acts(bool late) {
  bool acted = false;
  for_each_waiting([&acted](const Thread& thread, const Awaited& awaited) {
    if (awaited.hurry == nullptr || !awaited.hurry(awaited.what) || !awaited.holds(awaited.what)) return;
    wake_sleeper(thread);
    acted = true;
  });
  return acted || signal_from_outside(late);
}

bool waits_for_outside() {
  bool some = false;
  for_each_waiting([&some](const Thread&, const Awaited& awaited) { some = some || awaited.from_outside; });
  return some;
}

}  // namespace reweave::core
