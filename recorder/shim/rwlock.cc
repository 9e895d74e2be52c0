// pthread_rwlock_*: as for mutexes, glibc keeps the lock and the scheduler does the waiting.
#include <pthread.h>

#include <cerrno>

#include "recorder/shim/deadline.h"
#include "recorder/shim/heap_shadow.h"
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

using Operation = Real<int(pthread_rwlock_t*)>;
Operation real_tryrdlock = {"pthread_rwlock_tryrdlock"};
Operation real_trywrlock = {"pthread_rwlock_trywrlock"};
Operation real_unlock = {"pthread_rwlock_unlock"};

constexpr std::uint8_t aux(LockMode mode) { return static_cast<std::uint8_t>(mode); }

// glibc cannot see writers that wait in the scheduler, but a lock that prefers writers must not let readers pass them.
// Their number is kept in a free field of the struct. A lock shared by processes is treated as if it did not prefer
// writers, because a process may die while it waits.
bool prefers_writers(const pthread_rwlock_t* lock) {
  return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP && lock->__data.__shared == 0;
}
unsigned int& waiting_writers(pthread_rwlock_t* lock) { return lock->__data.__pad4; }

int attempt(pthread_rwlock_t* lock, LockMode mode) {
  if (mode != LockMode::kShared) return real_trywrlock(lock);
  return prefers_writers(lock) && waiting_writers(lock) != 0 ? EBUSY : real_tryrdlock(lock);
}

WaitResult wait(pthread_rwlock_t* lock, LockMode mode, const timespec* deadline, int clock, std::uint64_t pc) {
  const bool counted = mode != LockMode::kShared && prefers_writers(lock);
  if (counted) waiting_writers(lock)++;
  const WaitResult result = block(WaitKind::kRwlock, lock, pc, deadline, clock, lock->__data.__cur_writer);
  if (!counted) return result;
  waiting_writers(lock)--;
  if (result == WaitResult::kTimedOut) wake(WaitKind::kRwlock, lock, ~0u);  // readers that waited for it to go first
  return result;
}

int lock(pthread_rwlock_t* lock, LockMode mode, const timespec* deadline, int clock, std::uint64_t pc) {
  if (!is_valid(deadline, clock)) return EINVAL;
  point(OpKind::kLock, lock, pc, aux(mode));
  use(lock, pc);
  note_use(EventKind::kLockRequest, lock, pc, aux(mode));
  for (;;) {
    const int result = attempt(lock, mode);
    if (result == 0) note(EventKind::kLock, lock, pc, aux(mode));
    if (result != EBUSY) return result;
    if (lock->__data.__cur_writer == self().tid) return EDEADLK;
    if (wait(lock, mode, deadline, clock, pc) == WaitResult::kTimedOut) return ETIMEDOUT;
    deliver_signals();
  }
}

int try_lock(pthread_rwlock_t* lock, LockMode mode, std::uint64_t pc) {
  point(OpKind::kLock, lock, pc, aux(mode));
  use_and_note(lock, pc);
  const int result = attempt(lock, mode);
  if (result == 0) note(EventKind::kLock, lock, pc, aux(mode));
  return result;
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

REWEAVE_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) {
  return lock(rwlock, LockMode::kShared, nullptr, 0, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* rwlock) {
  return lock(rwlock, LockMode::kExclusive, nullptr, 0, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* rwlock, const timespec* deadline) {
  return lock(rwlock, LockMode::kShared, deadline, CLOCK_REALTIME, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* rwlock, const timespec* deadline) {
  return lock(rwlock, LockMode::kExclusive, deadline, CLOCK_REALTIME, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* rwlock, clockid_t clock, const timespec* deadline) {
  return lock(rwlock, LockMode::kShared, deadline, clock, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* rwlock, clockid_t clock, const timespec* deadline) {
  return lock(rwlock, LockMode::kExclusive, deadline, clock, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* rwlock) {
  return try_lock(rwlock, LockMode::kShared, REWEAVE_CALLER);
}
REWEAVE_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* rwlock) {
  return try_lock(rwlock, LockMode::kExclusive, REWEAVE_CALLER);
}

REWEAVE_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* rwlock) {
  point(OpKind::kUnlock, rwlock, REWEAVE_CALLER);
  use(rwlock, REWEAVE_CALLER);
  const bool exclusive = rwlock->__data.__cur_writer == self().tid;
  note_use(EventKind::kUnlock, rwlock, REWEAVE_CALLER, aux(exclusive ? LockMode::kExclusive : LockMode::kShared));
  const int result = real_unlock(rwlock);
  if (result == 0) wake(WaitKind::kRwlock, rwlock, ~0u);
  return result;
}
