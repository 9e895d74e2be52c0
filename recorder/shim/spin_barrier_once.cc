// Spin locks, barriers and pthread_once: glibc does the work, on emulated futexes where it waits.
#include <pthread.h>

#include <cerrno>

#include "recorder/shim/heap_shadow.h"
#include "recorder/shim/real.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

Real<int(pthread_spinlock_t*)> real_spin_trylock = {"pthread_spin_trylock"};
Real<int(pthread_spinlock_t*)> real_spin_unlock = {"pthread_spin_unlock"};
Real<int(pthread_barrier_t*)> real_barrier_wait = {"pthread_barrier_wait"};
Real<int(pthread_once_t*, void (*)())> real_once = {"pthread_once"};

// glibc: 0 = nobody has started, 2 = done.
constexpr int kOnceFresh = 0;

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

// The real one spins without a system call: with one thread running at a time, for ever.
REWEAVE_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) {
  auto* place = const_cast<int*>(lock);
  point(OpKind::kLock, place, REWEAVE_CALLER);
  use_and_note(place, REWEAVE_CALLER);
  while (real_spin_trylock(lock) == EBUSY) {
    block(WaitKind::kSpin, place);
    deliver_signals();
  }
  note(EventKind::kLock, place, REWEAVE_CALLER);
  return 0;
}

REWEAVE_EXPORT int pthread_spin_trylock(pthread_spinlock_t* lock) {
  point(OpKind::kLock, lock, REWEAVE_CALLER);
  use_and_note(lock, REWEAVE_CALLER);
  const int result = real_spin_trylock(lock);
  if (result == 0) note(EventKind::kLock, lock, REWEAVE_CALLER);
  return result;
}

REWEAVE_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) {
  point(OpKind::kUnlock, lock, REWEAVE_CALLER);
  use(lock, REWEAVE_CALLER);
  note_use(EventKind::kUnlock, lock, REWEAVE_CALLER);
  const int result = real_spin_unlock(lock);
  wake(WaitKind::kSpin, lock, 1);
  return result;
}

REWEAVE_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  point(OpKind::kBarrier, barrier, REWEAVE_CALLER);
  use(barrier, REWEAVE_CALLER);
  note_use(EventKind::kBarrierEnter, barrier, REWEAVE_CALLER);
  const int result = real_barrier_wait(barrier);
  note(EventKind::kBarrierLeave, barrier, REWEAVE_CALLER);
  return result;
}

// In the trace: who runs the routine stores to the control word, who finds it done loads from it.
REWEAVE_EXPORT int pthread_once(pthread_once_t* control, void (*routine)()) {
  point(OpKind::kLock, control, REWEAVE_CALLER);
  use(control, REWEAVE_CALLER);
  const bool ours = *control == kOnceFresh;
  const int result = real_once(control, routine);
  constexpr std::uint8_t kOrder = __ATOMIC_ACQ_REL;
  note(ours ? EventKind::kAtomicStore : EventKind::kAtomicLoad, control, REWEAVE_CALLER, kOrder, sizeof *control);
  return result;
}
