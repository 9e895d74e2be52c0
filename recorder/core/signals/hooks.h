// What delivering a signal asks of ptrace(2), whose room is above: functions that core/wiring.cc names. They stop the
// calling thread if it is traced, and do nothing if it is not; the baton is given away meanwhile. `context` is what the
// thread returns to, which its tracer may change.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

struct TracerHooks {
  // Before the delivery of `signal`, which becomes what the tracer wants to be delivered. False: nothing is.
  bool (*stop_for_signal)(KernelContext& context, QueuedSignal& signal);
  // Stop signal `number` takes effect.
  void (*stop_in_group)(KernelContext& context, int number);
  // At PTRACE_EVENT_... `event`, if the tracer asked for it.
  void (*stop_at_event)(KernelContext& context, int event, std::uint64_t message);
  // At the first instruction of the handler that was just entered, if the thread is stepped.
  void (*stop_in_stepped_handler)(KernelContext& context);
};
[[gnu::visibility("hidden")]] extern const TracerHooks tracer_hooks;

}  // namespace reweave::core
