#include "recorder/core/signals/signal_queue.h"

#include <sys/syscall.h>

#include "recorder/core/base/kernel_types.h"
#include "recorder/core/schedule/due_signals.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/stops.h"

namespace reweave::core {

namespace {

// Keeps signal handlers from appending during a change of the queue.
class QueueGuard {
 public:
  QueueGuard() { sys(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, &before_, 8); }
  ~QueueGuard() { sys(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, 8); }
  QueueGuard(const QueueGuard&) = delete;
  QueueGuard& operator=(const QueueGuard&) = delete;

 private:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t before_ = 0;
};

void undisguise(void* info) {
  constexpr std::int32_t kMost = 0xffff;
  std::int32_t words[3];
  memcpy(words, info, sizeof words);
  if (words[2] >= disguised_code(0) || words[2] < disguised_code(kMost)) return;
  words[2] = disguised_code(words[2]);
  memcpy(info, words, sizeof words);
}

std::uint64_t bit_of(const QueuedSignal& signal) { return signal_bit(static_cast<int>(signal.number)); }

}  // namespace

void queue_signal(Thread& me, int number, const void* info, bool external) {
  if ((kTerminalStops & signal_bit(number)) != 0) process().stop_cancelled.store(0);
  const std::uint32_t n = me.queued.load();
  if (n == kSignalQueue) return;  // dropped, as by the kernel when its queue is full
  me.signals[n].number = static_cast<std::uint32_t>(number);
  me.signals[n].external = external ? 1 : 0;
  memcpy(me.signals[n].info, info, sizeof me.signals[n].info);
  undisguise(me.signals[n].info);
  me.queued.store(n + 1);
}

void queue_from_handler(Thread& me, int number, const void* info) {
  const QueueGuard guard;
  queue_signal(me, number, info, true);
}

void queue_own_signal(Thread& me, int number) {
  std::int32_t info[32] = {number, 0, -6 /* SI_TKILL */, 0, process().pid};
  queue_signal(me, number, info, true);
}

void take_pending_defaults(Thread& me) {
  if (!live()) return;
  const Process& here = state().processes[process().handlers_of];
  std::uint64_t pending = 0;
  sys(SYS_rt_sigpending, &pending, 8);
  pending &= ~(me.signal_mask | here.handled_signals | here.ignored_signals | kIgnoredByDefault | kNeverBlocked);
  while (pending != 0) {
    const std::uint64_t lowest = pending & -pending;
    const long at_once[2] = {0, 0};
    std::int32_t info[32];
    const long number = sys(SYS_rt_sigtimedwait, &lowest, info, at_once, 8);
    if (!is_error(number)) {
      const QueueGuard guard;
      queue_signal(me, static_cast<int>(number), info, true);
    }
    pending &= ~lowest;
  }
}

namespace {

std::int32_t code_of(const QueuedSignal& signal) { return reinterpret_cast<const std::int32_t*>(signal.info)[2]; }

QueuedSignal remove(Thread& me, std::uint32_t index) {
  const QueuedSignal signal = me.signals[index];
  const std::uint32_t n = me.queued.load() - 1;
  memmove(me.signals + index, me.signals + index + 1, (n - index) * sizeof me.signals[0]);
  me.queued.store(n);
  return signal;
}

// True if the kernel would not have queued the tracee's signal at `index`, or cancelled it: SIGCONT and stop signals
// cancel earlier ones of the other kind, and only one instance of a signal that is not real-time can be pending
// (signal(7)). SIGCONT takes back a request for SIGSTOP itself, so if there is one, it is the later of the two.
bool is_cancelled(const Thread& me, std::uint32_t index) {
  constexpr std::uint32_t kFirstRealTime = 32;
  const QueuedSignal& signal = me.signals[index];
  if (is_mark(signal)) return false;
  const bool stops = (kTerminalStops & bit_of(signal)) != 0, continues = signal.number == SIGCONT;
  if (continues && (tracee_of(me)->asked.load() & kAskedStop) != 0) return true;
  for (std::uint32_t i = 0; i < me.queued.load(); i++) {
    const QueuedSignal& other = me.signals[i];
    if (i == index || is_mark(other)) continue;
    if (i < index && other.number == signal.number && signal.number < kFirstRealTime) return true;
    if (i > index && ((stops && other.number == SIGCONT) || (continues && (kTerminalStops & bit_of(other)) != 0)))
      return true;
  }
  return false;
}

// The order in which the kernel delivers pending signals to a tracee: first those that an instruction may have caused,
// then by number. Requests to stop come before all.
std::uint32_t rank_of(const QueuedSignal& signal) {
  if (is_request_to_stop(signal)) return 0;
  const bool first = is_synchronous(static_cast<int>(signal.number)) || signal.number == SIGSYS;
  return signal.number + (first ? 0 : kSignalCount);
}

std::uint32_t next_of_tracee(Thread& me) {
  for (std::uint32_t i = me.queued.load(); i-- > 0;)
    if (is_cancelled(me, i)) remove(me, i);
  const std::uint32_t n = me.queued.load();
  std::uint32_t next = n;
  for (std::uint32_t i = 0; i < n; i++) {
    if ((me.signal_mask & bit_of(me.signals[i])) != 0) continue;
    if (next == n || rank_of(me.signals[i]) < rank_of(me.signals[next])) next = i;
  }
  return next;
}

}  // namespace

bool is_request_to_stop(const QueuedSignal& signal) {
  return signal.number == SIGSTOP && code_of(signal) == kRequestCode;
}

bool is_mark(const QueuedSignal& signal) {
  return is_request_to_stop(signal) || (signal.number == SIGSTOP && code_of(signal) == kSignalCode);
}

bool is_kick(const void* info) {
  constexpr std::int32_t kQueued = -1;  // SI_QUEUE
  const auto* words = static_cast<const std::int32_t*>(info);
  std::uint64_t value = 0;
  memcpy(&value, words + 6, sizeof value);
  return words[2] == kQueued && value == kKickValue;
}

QueuedSignal take_queued(Thread& me, std::uint32_t index) {
  const QueueGuard guard;
  return remove(me, index);
}

bool take_next(Thread& me, QueuedSignal& signal) {
  const QueueGuard guard;
  const std::uint32_t index = me.tracee != 0 ? next_of_tracee(me) : first_deliverable(me);
  if (index >= me.queued.load()) return false;
  signal = remove(me, index);
  return true;
}

namespace {

// Only one instance of a signal that is not real-time can be pending (signal(7)).
void hold(Thread& me, const QueuedSignal& signal) {
  constexpr std::uint32_t kFirstRealTime = 32;
  const bool again = signal.number < kFirstRealTime && (held_mask(me) & bit_of(signal)) != 0;
  if (again || me.held == kHeldSignals) return;
  std::uint32_t i = me.held++;  // lowest number first
  for (; i > 0 && me.held_signals[i - 1].number > signal.number; i--) me.held_signals[i] = me.held_signals[i - 1];
  me.held_signals[i] = signal;
}

// Moves the last queued signal to `index`; the signals from there on move up by one.
void move_last_to(Thread& me, std::uint32_t index) {
  const std::uint32_t last = me.queued.load() - 1;
  const QueuedSignal signal = me.signals[last];
  memmove(me.signals + index + 1, me.signals + index, (last - index) * sizeof me.signals[0]);
  me.signals[index] = signal;
}

}  // namespace

void drop_held(Thread& me, int number) {
  std::uint8_t info[128];
  while (take_held(me, signal_bit(number), info) != 0) {
  }
}

// The kernel delivers signals that an instruction may have caused first, then the lowest number (kernel/signal.c,
// next_signal).
bool held_come_first(const Thread& me, std::uint64_t set, std::uint64_t pending) {
  constexpr std::uint64_t kLast = signal_bit(kWatchdogSignal);
  const std::uint64_t held = held_mask(me) & set;
  return (held & ~kLast) != 0 || (held != 0 && (pending & set & (kLast - 1)) == 0);
}

void put_back_blocked(Thread& me) {
  if (me.queued.load() == 0) return;
  apply_signal_mask(me);
  for (std::uint32_t i = 0; i < me.queued.load();) {
    if ((me.signal_mask & bit_of(me.signals[i])) == 0) {
      i++;
      continue;
    }
    const QueuedSignal signal = take_queued(me, i);
    if ((kNeverBlocked & bit_of(signal)) == 0)
      sys(SYS_rt_tgsigqueueinfo, sys(SYS_getpid), sys(SYS_gettid), signal.number, signal.info);
    else
      hold(me, signal);
  }
}

void release_held(Thread& me) {
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < me.held;) {
    const QueuedSignal& signal = me.held_signals[i];
    if ((me.signal_mask & bit_of(signal)) != 0) {
      i++;
      continue;
    }
    const QueueGuard guard;
    const std::uint32_t before = me.queued.load();
    queue_signal(me, static_cast<int>(signal.number), signal.info, true);
    const bool goes_first = signal.number != kWatchdogSignal && me.queued.load() != before;
    if (goes_first) move_last_to(me, first++);
    me.held--;
    memmove(me.held_signals + i, me.held_signals + i + 1, (me.held - i) * sizeof me.held_signals[0]);
  }
}

int take_held(Thread& me, std::uint64_t set, void* info) {
  std::uint32_t i = 0;
  while (i < me.held && (set & bit_of(me.held_signals[i])) == 0) i++;
  if (i == me.held) return 0;
  const auto number = static_cast<int>(me.held_signals[i].number);
  memcpy(info, me.held_signals[i].info, sizeof me.held_signals[i].info);
  me.held--;
  memmove(me.held_signals + i, me.held_signals + i + 1, (me.held - i) * sizeof me.held_signals[0]);
  return number;
}

std::uint64_t held_mask(const Thread& me) {
  std::uint64_t mask = 0;
  for (std::uint32_t i = 0; i < me.held; i++) mask |= bit_of(me.held_signals[i]);
  return mask;
}

}  // namespace reweave::core
