// pthread_mutex_*: glibc keeps the mutex (type, owner, recursion, robustness); the scheduler does the waiting. A held
// mutex is only tried, so glibc never sleeps.
#include "recorder/shim/mutex.h"

#include <linux/futex.h>

#include <cerrno>

#include "recorder/shim/deadline.h"
#include "recorder/shim/heap_shadow.h"
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

Real<int(pthread_mutex_t*)> real_trylock = {"pthread_mutex_trylock"};
Real<int(pthread_mutex_t*)> real_unlock = {"pthread_mutex_unlock"};

constexpr int kKindMask = 3;  // glibc: the type without its flags

// An error-checking mutex rejects its owner with EDEADLK, but trylock only reports that the mutex is held (EBUSY).
bool refuses_owner(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & kKindMask) == PTHREAD_MUTEX_ERRORCHECK_NP && mutex->__data.__owner == self().tid;
}

// A plain mutex (PTHREAD_MUTEX_TIMED_NP: no other type, not robust, not shared, no protocol) is accessed only by the
// baton holder, which is not interrupted here. So atomic instructions, which cost more than everything else, are not
// needed; these two functions leave the mutex as glibc would. False if it is not a plain mutex in the expected state.
bool take_plain(pthread_mutex_t* mutex) {
  auto& fields = mutex->__data;
  if (fields.__kind != PTHREAD_MUTEX_TIMED_NP || fields.__lock != 0) return false;
  fields.__lock = 1;
  fields.__owner = self().tid;
  fields.__nusers++;
  return true;
}

bool give_plain(pthread_mutex_t* mutex) {
  auto& fields = mutex->__data;
  constexpr int kLockedAlone = 1;  // 2: a thread sleeps in glibc
  if (fields.__kind != PTHREAD_MUTEX_TIMED_NP || fields.__lock != kLockedAlone) return false;
  fields.__owner = 0;
  fields.__nusers--;
  fields.__lock = 0;
  return true;
}

int try_lock(pthread_mutex_t* mutex) { return take_plain(mutex) ? 0 : real_trylock(mutex); }

// glibc's lock releases an unrecoverable robust mutex, but its trylock keeps it (at least until 2.38).
void give_up(pthread_mutex_t* mutex) {
  auto& word = mutex->__data.__lock;
  if ((word & FUTEX_TID_MASK) == self().tid) word = 0;
  wake(WaitKind::kMutex, mutex, 1);
}

bool acquired(int result) { return result == 0 || result == EOWNERDEAD; }

// Out of line, so that the path for a free plain mutex needs no stack.
[[gnu::noinline]] int lock_slowly(pthread_mutex_t* mutex, const timespec* deadline, int clock, std::uint64_t pc) {
  note_use(EventKind::kLockRequest, mutex, pc);
  const int result = acquire_mutex(mutex, deadline, clock, pc);
  if (acquired(result)) note(EventKind::kLock, mutex, pc);
  return result;
}

[[gnu::always_inline]] inline int lock(pthread_mutex_t* mutex, const timespec* deadline, int clock, std::uint64_t pc) {
  point(OpKind::kLock, mutex, pc);
  use(mutex, pc);
  if (!take_plain(mutex)) return lock_slowly(mutex, deadline, clock, pc);
  note_acquired(mutex, pc);
  return 0;
}

}  // namespace

int acquire_mutex(pthread_mutex_t* mutex, const timespec* deadline, int clock, std::uint64_t pc) {
  for (;;) {
    const int result = try_lock(mutex);
    if (result == ENOTRECOVERABLE) give_up(mutex);
    if (result != EBUSY) return result;
    if (refuses_owner(mutex)) return EDEADLK;
    if (!has_valid_nanoseconds(deadline)) return EINVAL;
    const WaitResult wait = block(WaitKind::kMutex, mutex, pc, deadline, clock, mutex->__data.__owner);
    if (wait == WaitResult::kTimedOut) return ETIMEDOUT;
    deliver_signals();
  }
}

int release_mutex(pthread_mutex_t* mutex) {
  const int result = give_plain(mutex) ? 0 : real_unlock(mutex);
  if (result == 0) wake(WaitKind::kMutex, mutex, 1);
  return result;
}

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) { return lock(mutex, nullptr, 0, REWEAVE_CALLER); }

REWEAVE_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  point(OpKind::kLock, mutex, REWEAVE_CALLER);
  use_and_note(mutex, REWEAVE_CALLER);
  const int result = try_lock(mutex);
  if (acquired(result)) note(EventKind::kLock, mutex, REWEAVE_CALLER);
  return result;
}

REWEAVE_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* deadline) {
  return lock(mutex, deadline, CLOCK_REALTIME, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* deadline) {
  if (!can_wait_by(clock)) return EINVAL;
  return lock(mutex, deadline, clock, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  point(OpKind::kUnlock, mutex, REWEAVE_CALLER);
  use(mutex, REWEAVE_CALLER);
  note_use(EventKind::kUnlock, mutex, REWEAVE_CALLER);
  return !is_awaited(mutex) && give_plain(mutex) ? 0 : release_mutex(mutex);
}
