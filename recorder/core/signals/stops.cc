#include "recorder/core/signals/stops.h"

#include <sys/syscall.h>

#include "recorder/core/base/entry_points.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/schedule/recorded_switches.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/protection_keys.h"
#include "recorder/core/signals/signals.h"

namespace reweave::core {

namespace {

bool is_ours(std::uint32_t thread_mark) {
  return thread_mark != 0 && thread_mark <= kMaxThreads &&
         thread_of(static_cast<ThreadId>(thread_mark - 1)).process == self().process;
}

// The terminal that sent the signal stops the supervisor as well, so the whole tree waits until it is continued.
bool stops_with_supervisor() { return sys(SYS_getpgid, config().supervisor) == sys(SYS_getpgid, 0); }

// Lets the kernel stop the process, by restoring the default action for the moment.
void stop_now(int number) {
  const std::uint64_t bit = signal_bit(number);
  std::uint64_t before = 0;
  set_real_action(number, 0, 0);
  sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, &before, 8);
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, 8);
  set_kernel_action(number);
  self().unseen_signals++;
}

// While this process is stopping, none of its threads starts to move the baton; waits for those that already had.
void let_movers_finish() {
  while (process().moving_baton.load() != 0) sys(SYS_sched_yield);
}

}  // namespace

// A thread that moves the baton announces that first and then looks at `stopping` (core/schedule/baton.cc); here the
// order is the reverse, so at least one of the two sees the other. The thread to which the baton is promised is checked
// before the one that has it.
bool begin_stop() {
  Process& here = process();
  here.stopping.fetch_add(1);
  const bool promised = is_ours(state().next_holder.load());
  const bool held = is_ours(state().holder.load());
  return !promised && !held && here.moving_baton.load() == 0;
}

void end_stop() {
  Process& here = process();
  here.stopping.fetch_sub(1);
  look_again(here.index);
}

void begin_without_stops() {
  process().stopping.store(0);
  process().moving_baton.store(0);
}

void stop_here(int number) {
  if (replaying()) {
    follow_recorded_switches(wire::SwitchReason::kInKernel);
    return;
  }
  if (!live() || number == 0 || process().stop_cancelled.load() != 0) return;
  begin_stop();
  leave_baton();
  let_movers_finish();
  sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  end_stop();
  return_from_kernel();
}

extern "C" void core_on_stop(int number, void* info, void* raw_context) {
  take_all_rights();
  if (self().tracee != 0) return core_on_asynchronous(number, info, raw_context);  // traced a moment ago
  const bool unheld = begin_stop();
  const bool at_once = unheld || stops_with_supervisor();
  if (at_once) stop_now(number);
  end_stop();
  if (at_once) return;
  core_on_asynchronous(number, info, raw_context);
}

}  // namespace reweave::core
