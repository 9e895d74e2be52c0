#include "recorder/core/signals/forced_signals.h"

#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/hooks.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/restarts.h"
#include "recorder/core/signals/signal_effects.h"

namespace reweave::core {

namespace {

// A forced signal: its handler runs now, or the process dies. `recurs`: as for die_on_return.
void force(KernelContext& context, int number, const void* info, bool recurs) {
  Thread& me = self();
  const bool blocked = (me.signal_mask & signal_bit(number)) != 0;
  if (signal_action(number).handler <= 1 || blocked) return die_on_return(context, number, recurs);
  enter_handler(context, number, info);
  context.mask = real_mask(me.signal_mask);
  if (process().alive) arm();
}

}  // namespace

void take_synchronous_signal(KernelContext& context, int number, const void* info, bool recurs) {
  Thread& me = self();
  log_signal(me, number, false, info);
  if (me.tracee == 0) return force(context, number, info, recurs);
  QueuedSignal signal = {static_cast<std::uint32_t>(number), 0, {}};
  memcpy(signal.info, info, sizeof signal.info);
  if (tracer_hooks.stop_for_signal(context, signal)) {
    if (signal.number != static_cast<std::uint32_t>(number))
      act_on(context, signal);
    else
      force(context, number, signal.info, recurs);
  }
  if (Tracee* tracee = tracee_of(me)) settle_restart(context, *tracee, nullptr);
  if (process().alive) arm();
}

void force_signal(KernelContext& context, int number, const void* info) {
  take_synchronous_signal(context, number, info, false);
}

}  // namespace reweave::core
