// pthread_cond_*: entirely in the scheduler; the pthread_cond_t holds nothing but its clock and a counter.
#include <cerrno>

#include "recorder/shim/cancellation.h"
#include "recorder/shim/deadline.h"
#include "recorder/shim/heap_shadow.h"
#include "recorder/shim/mutex.h"
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

// glibc keeps the clock of a condition variable in bit 1 of __wrefs (nptl/pthread_cond_common.c).
int clock_of(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

struct Waiting {
  pthread_cond_t* condition;
  pthread_mutex_t* mutex;
  const timespec* deadline;
  int clock;
  std::uint64_t pc;
};

// The number of notifications, kept in the field in which glibc counts its own waiters.
unsigned long long& notifications(pthread_cond_t* condition) { return condition->__data.__wseq.__value64; }

// As in glibc, a signal handler does not end the wait. But a thread in its handler is not among those woken, so a
// notification that came meanwhile ends the wait.
int wait_for_notification(void* raw) {
  const auto& waiting = *static_cast<const Waiting*>(raw);
  for (;;) {
    const unsigned long long before = notifications(waiting.condition);
    const WaitResult result =
        block(WaitKind::kCondition, waiting.condition, waiting.pc, waiting.deadline, waiting.clock);
    deliver_signals();
    if (result != WaitResult::kInterrupted || notifications(waiting.condition) != before)
      return static_cast<int>(result);
  }
}

// glibc counts a waiter's mutex as in use, so that it cannot be destroyed meanwhile (EBUSY).
int take_back(pthread_mutex_t* mutex, std::uint64_t pc) {
  mutex->__data.__nusers--;
  return acquire_mutex(mutex, nullptr, 0, pc);
}

// A cancelled waiter runs its cleanup handlers with the mutex held (pthread_cond_wait(3)).
void take_mutex_back(void* raw) {
  const auto& waiting = *static_cast<const Waiting*>(raw);
  take_back(waiting.mutex, waiting.pc);
}

int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* deadline, int clock, std::uint64_t pc) {
  if (!is_valid(deadline, clock)) return EINVAL;
  point(OpKind::kWait, condition, pc);
  use(condition, pc);
  use_and_note(mutex, pc);
  note_use(EventKind::kWaitBegin, condition, pc, 0, address_of(mutex));
  const int released = release_mutex(mutex);
  if (released != 0) return released;
  mutex->__data.__nusers++;
  Waiting waiting = {condition, mutex, deadline, clock, pc};
  const auto result =
      static_cast<WaitResult>(shim_cancellable_wait(wait_for_notification, &waiting, take_mutex_back, &waiting));
  use_and_note(mutex, pc);
  const int acquired = take_back(mutex, pc);
  note(EventKind::kWaitEnd, condition, pc, result == WaitResult::kTimedOut ? 1 : 0, address_of(mutex));
  if (acquired != 0) return acquired;
  return result == WaitResult::kTimedOut ? ETIMEDOUT : 0;
}

void notify(pthread_cond_t* condition, std::uint32_t count, std::uint64_t pc) {
  point(OpKind::kNotify, condition, pc);
  use(condition, pc);
  note_use(EventKind::kNotify, condition, pc, count == 1 ? 0 : 1);
  notifications(condition)++;
  wake(WaitKind::kCondition, condition, count);
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait(condition, mutex, nullptr, 0, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* deadline) {
  return wait(condition, mutex, deadline, clock_of(condition), REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* deadline) {
  return wait(condition, mutex, deadline, clock, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  notify(condition, 1, REWEAVE_CALLER);
  return 0;
}

REWEAVE_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  notify(condition, ~0u, REWEAVE_CALLER);
  return 0;
}

// glibc's version would wait for the waiters that it counts itself; here only the scheduler knows the waiters.
REWEAVE_EXPORT int pthread_cond_destroy(pthread_cond_t* condition) {
  use(condition, REWEAVE_CALLER);
  note(EventKind::kWrite, condition, REWEAVE_CALLER, kSamePoint, 1);
  return 0;
}
