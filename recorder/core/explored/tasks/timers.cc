#include "recorder/core/explored/tasks/timers.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "recorder/core/explored/leaving.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/calls.h"
#include "recorder/core/explored/tasks/signals.h"
#include "recorder/core/explored/tasks/time.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/explored_handlers.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kMicrosecond = 1'000;
constexpr std::int32_t kByKernel = 0x80, kByTimer = -2;  // si_code: SI_KERNEL, SI_TIMER
constexpr int kAlarmSignal = 14;

struct Timer {
  bool exists;
  bool is_alarm;  // setitimer's; alarm sets it too
  std::uint16_t process;
  std::int32_t id, signal;
  std::uint64_t value;  // sigval
  long clock;
  std::int64_t deadline, interval;
  std::int32_t tid;  // the thread to be notified; 0: any
};
constexpr std::uint32_t kMostTimers = 64;
constexpr Timer kNoTimer = {false, false, 0, 0, kAlarmSignal, 0, CLOCK_MONOTONIC, kNoDeadline, 0, 0};
IN_MODEL Timer timers[kMostTimers];
IN_MODEL std::uint64_t sent_signals;  // by timers that were ever armed

struct Setting {  // struct itimerspec, in nanoseconds
  std::int64_t interval, left;
};

bool is_own(const Timer& timer) { return timer.exists && timer.process == self().process; }

Timer* find(long id) {
  for (Timer& timer : timers)
    if (is_own(timer) && !timer.is_alarm && timer.id == static_cast<std::int32_t>(id)) return &timer;
  return nullptr;
}

Timer* new_timer(bool is_alarm) {
  for (Timer& timer : timers) {
    if (timer.exists) continue;
    timer = kNoTimer;
    timer.is_alarm = is_alarm;
    timer.exists = true;
    timer.process = self().process;
    return &timer;
  }
  return nullptr;
}

// The caller's alarm, if it ever set one.
Timer* find_alarm() {
  for (Timer& timer : timers)
    if (is_own(timer) && timer.is_alarm) return &timer;
  return nullptr;
}

Timer& alarm_for(const Call& call) {
  Timer* timer = find_alarm();
  if (timer == nullptr) timer = new_timer(true);
  if (timer == nullptr) leave_recording(call, "more than 64 timers are not modelled");
  return *timer;
}

Timer* next() {
  Timer* first = nullptr;
  for (Timer& timer : timers)
    if (timer.exists && timer.deadline != kNoDeadline && (first == nullptr || timer.deadline < first->deadline))
      first = &timer;
  return first;
}

Setting setting_of(const Timer& timer) {
  if (!timer.exists || timer.deadline == kNoDeadline) return {0, 0};
  const std::int64_t left = timer.deadline - modelled_end(0);
  return {timer.interval, left > 0 ? left : 1};
}

void arm(Timer& timer, const Setting& setting, bool absolute) {
  sent_signals |= signal_bit(timer.signal);
  timer.interval = setting.interval;
  timer.deadline = setting.left == 0 ? kNoDeadline
                   : absolute        ? modelled_deadline(timer.clock, setting.left)
                                     : modelled_end(setting.left);
}

// Reads settings whose fractions of seconds are counted in `unit` nanoseconds.
Setting read_setting(long address, std::int64_t unit) {
  const auto* words = reinterpret_cast<const std::int64_t*>(address);
  return {words[0] * kSecond + words[1] * unit, words[2] * kSecond + words[3] * unit};
}

long log_setting(Call& call, long address, const Setting& setting, std::int64_t unit) {
  const std::int64_t words[4] = {setting.interval / kSecond, setting.interval % kSecond / unit, setting.left / kSecond,
                                 setting.left % kSecond / unit};
  if (address != 0) memcpy(reinterpret_cast<void*>(address), words, sizeof words);
  return log_value(call, 0, static_cast<std::uint64_t>(address), sizeof words);
}

bool is_valid(const Setting& setting) { return setting.interval >= 0 && setting.left >= 0; }

// True if `from`, if required, is readable, and `to`, if given, is writable.
bool are_there(long from, long to) {
  constexpr std::uint64_t kBytes = 32;
  const auto source = static_cast<std::uint64_t>(from), place = static_cast<std::uint64_t>(to);
  return (from == 0 || bytes_there(source, kBytes) == kBytes) && (to == 0 || bytes_writable(place, kBytes) == kBytes);
}

long set_alarm(Call& call) {
  Timer& alarm = alarm_for(call);
  const Setting before = setting_of(alarm);
  arm(alarm, {0, static_cast<std::uint32_t>(call.logged[0]) * kSecond}, false);
  return complete(call, static_cast<long>((before.left + kSecond - 1) / kSecond));
}

long set_interval(Call& call) {
  if (!are_there(call.logged[1], call.logged[2])) return complete(call, -EFAULT);
  Timer& alarm = alarm_for(call);
  const Setting before = setting_of(alarm);
  const Setting wanted = call.logged[1] == 0 ? Setting{0, 0} : read_setting(call.logged[1], kMicrosecond);
  if (!is_valid(wanted)) return complete(call, -EINVAL);
  arm(alarm, wanted, false);
  return log_setting(call, call.logged[2], before, kMicrosecond);
}

long tell_setting(Call& call, const Timer& timer, std::int64_t unit) {
  if (!are_there(0, call.logged[1])) return complete(call, -EFAULT);
  return log_setting(call, call.logged[1], setting_of(timer), unit);
}

long set_timer(Call& call, Timer& timer) {
  const Setting before = setting_of(timer);
  if (call.logged[2] == 0) return complete(call, -EINVAL);
  if (!are_there(call.logged[2], call.logged[3])) return complete(call, -EFAULT);
  const Setting wanted = read_setting(call.logged[2], 1);
  if (!is_valid(wanted)) return complete(call, -EINVAL);
  arm(timer, wanted, (call.logged[1] & TIMER_ABSTIME) != 0);
  return log_setting(call, call.logged[3], before, 1);
}

bool is_shared_clock(long clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM || clock == CLOCK_TAI;
}

// True if a thread of the recorded run sets an alarm after the place where the run departed.
bool sets_alarm() {
  if (first_recorded(SYS_alarm) != nullptr) return true;
  for (const RecordedCall* call = first_recorded(SYS_setitimer); call != nullptr; call = next_recorded(*call))
    if (record_of(*call).args[0] == ITIMER_REAL) return true;
  return false;
}

// True if timers are created there, all with clocks that allow them to be the run's own.
bool all_can_be_own() {
  const RecordedCall* call = first_recorded(SYS_timer_create);
  const bool some = call != nullptr;
  for (; call != nullptr; call = next_recorded(*call))
    if (!is_shared_clock(static_cast<long>(record_of(*call).args[0]))) return false;
  return some;
}

}  // namespace

bool explore_alarm(Call& call, long& result) { return result = set_alarm(call), true; }

bool explore_setitimer(Call& call, long& result) {
  return call.logged[0] == ITIMER_REAL && (result = set_interval(call), true);
}

bool explore_getitimer(Call& call, long& result) {
  const Timer* alarm = find_alarm();
  if (call.logged[0] != ITIMER_REAL || alarm == nullptr) return false;
  return result = tell_setting(call, *alarm, kMicrosecond), true;
}

bool explore_timer_settime(Call& call, long& result) {
  Timer* timer = find(call.logged[0]);
  return timer != nullptr && (result = set_timer(call, *timer), true);
}

bool explore_timer_gettime(Call& call, long& result) {
  const Timer* timer = find(call.logged[0]);
  return timer != nullptr && (result = tell_setting(call, *timer, 1), true);
}

bool explore_timer_getoverrun(Call& call, long& result) {
  return find(call.logged[0]) != nullptr && (result = complete(call, 0), true);
}

bool explore_timer_delete(Call& call, long& result) {
  Timer* timer = find(call.logged[0]);
  if (timer == nullptr) return false;
  *timer = {};
  return result = complete(call, 0), true;
}

void note_timer(const Call& call) {
  struct Event {  // struct sigevent
    std::uint64_t value;
    std::int32_t signal, notify, tid;
  };
  constexpr std::int32_t kSignal = 0, kThread = 4;  // SIGEV_SIGNAL, SIGEV_THREAD_ID
  const auto* event = reinterpret_cast<const Event*>(call.logged[1]);
  const bool is_known = event == nullptr || event->notify == kSignal || event->notify == kThread;
  if (!is_shared_clock(call.logged[0]) || !is_known) return;
  Timer* timer = new_timer(false);
  if (timer == nullptr) return;
  timer->id = *reinterpret_cast<const std::int32_t*>(call.logged[2]);
  timer->value = static_cast<std::uint32_t>(timer->id);
  timer->clock = call.logged[0];
  if (event != nullptr) timer->signal = event->signal, timer->value = event->value;
  if (event != nullptr && event->notify == kThread) timer->tid = event->tid;
}

void forget_timers(std::uint16_t index, bool alarm_too) {
  for (Timer& timer : timers)
    if (timer.exists && timer.process == index && (alarm_too || !timer.is_alarm)) timer = {};
}

std::int64_t next_timer() {
  const Timer* timer = next();
  return timer == nullptr ? kNoDeadline : timer->deadline;
}

void fire_next_timer() {
  Timer* timer = next();
  // A thread that has not taken the last signal yet does not get the same signal again.
  if (timer == nullptr || (timer->tid != 0 && is_pending_for(timer->tid, timer->signal))) return;
  std::int64_t& now = state().virtual_now;
  if (timer->deadline > now) now = timer->deadline;
  // Several expirations in the meantime send one signal.
  while (timer->deadline <= now && timer->interval != 0) timer->deadline += timer->interval;
  if (timer->interval == 0) timer->deadline = kNoDeadline;
  SignalInfo info = {{timer->signal, 0, timer->is_alarm ? kByKernel : kByTimer}};
  if (!timer->is_alarm) {
    info.words[4] = timer->id;
    memcpy(&info.words[6], &timer->value, sizeof timer->value);
  }
  timer->tid == 0 ? send_modelled_to_any(timer->process, info) : send_modelled_to(timer->tid, info);
}

bool is_of_timer(const wire::SignalRecord& signal) {
  SignalInfo info;
  memcpy(&info, signal.info, sizeof info);
  if (info.words[2] == kByTimer) return find(info.words[4]) != nullptr || all_can_be_own();
  const bool is_alarm = info.words[2] == kByKernel && signal.number == kAlarmSignal;
  return is_alarm && (find_alarm() != nullptr || sets_alarm());
}

bool timers_send(long number) {
  return number > 0 && number <= kSignalCount && (sent_signals & signal_bit(static_cast<int>(number))) != 0;
}

bool timers_are_armed() { return next() != nullptr; }

}  // namespace reweave::core
