// The functions of ptrace(2) that signal delivery needs. Their folder is a higher one, so core/wiring.cc names them.
// They stop the calling thread if it is traced and otherwise do nothing; during the stop the thread does not have the
// baton. `context` is the state to which the thread returns; its tracer may change it.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

struct TracerHooks {
  // Live: decides what a mark in the calling thread's queue stands for by now (signal_queue.h). False: for nothing.
  bool (*settle_request)(QueuedSignal& signal);
  // Before `signal` is delivered; `signal` becomes the one that the tracer chooses. False: none is delivered.
  bool (*stop_for_signal)(KernelContext& context, QueuedSignal& signal);
  // When stop signal `number` takes effect.
  void (*stop_in_group)(int number);
  // At PTRACE_EVENT_... `event`, if the tracer asked for it.
  void (*stop_at_event)(KernelContext& context, int event, std::uint64_t message);
  // At the first instruction of the handler just entered, if the thread is being single-stepped.
  void (*stop_in_stepped_handler)(KernelContext& context);
};
[[gnu::visibility("hidden")]] extern const TracerHooks tracer_hooks;

}  // namespace reweave::core
