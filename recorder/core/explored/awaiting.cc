#include "recorder/core/explored/awaiting.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostBytes = 8448;  // of what is waited for

// A wait in a run of several processes, with a copy of `what`, because processes cannot access each other's stacks.
struct SharedWait {
  Awaited awaited;
  alignas(8) std::byte what[kMostBytes];
};

// By thread.
IN_MODEL const Awaited* awaited_by[kMaxThreads];
IN_MODEL SharedWait* shared[kMaxThreads];

const Awaited* share(ThreadId thread, const Awaited& awaited) {
  SharedWait*& wait = shared[thread];
  if (wait == nullptr) wait = reinterpret_cast<SharedWait*>(take_model_room(sizeof(SharedWait)));
  if (wait == nullptr || awaited.bytes > kMostBytes)
    stop_run(wire::OutcomeKind::kUnsupported, "no memory for the list of what a run's threads wait for");
  wait->awaited = awaited;
  if (awaited.bytes == 0) return &wait->awaited;
  memcpy(wait->what, awaited.what, awaited.bytes);
  wait->awaited.what = wait->what;
  return &wait->awaited;
}

template <typename Use>
void for_each_waiting(const Use& use) {
  for (const Thread& thread : live_threads(state()))
    if (awaited_by[thread.id] != nullptr) use(thread, *awaited_by[thread.id]);
}

}  // namespace

WaitResult wait_until(const Awaited& awaited, std::int64_t deadline) {
  const ThreadId me = self().id;
  WaitResult result = WaitResult::kWoken;
  awaited_by[me] = state().run_is_tree != 0 ? share(me, awaited) : &awaited;
  while (result == WaitResult::kWoken && !awaited.holds(awaited.what)) result = sleep_modelled(deadline);
  awaited_by[me] = nullptr;
  return result;
}

void share_waits() {
  for (const Thread& thread : live_threads(state()))
    if (const Awaited*& awaited = awaited_by[thread.id]; awaited != nullptr) awaited = share(thread.id, *awaited);
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
