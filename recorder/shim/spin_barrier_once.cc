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

// A call of pthread_once. It is on the caller's stack.
struct Once {
  pthread_once_t* control;
  void (*routine)();
  std::uint64_t pc;
  bool done;
};

void note_once(EventKind kind, const Once& once) {
  note(kind, once.control, once.pc, __ATOMIC_ACQ_REL, sizeof *once.control);
}

// glibc calls this instead of the routine. The store is traced before glibc marks the control word, because a thread
// that waits for the routine may load from the word as soon as it is marked. No store is traced if the routine throws.
void run_routine() {
  Once& once = *reinterpret_cast<Once*>(self().once);
  self().once = 0;  // the routine may call pthread_once itself
  once.routine();
  once.done = true;
  note_once(EventKind::kAtomicStore, once);
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT

// glibc's version spins without a system call, which never ends if only one thread runs at a time.
REWEAVE_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) {
  auto* place = const_cast<int*>(lock);
  point(OpKind::kLock, place, REWEAVE_CALLER);
  use_and_note(place, REWEAVE_CALLER);
  while (real_spin_trylock(lock) == EBUSY) {
    block(WaitKind::kSpin, place, REWEAVE_CALLER);
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

// In the trace: the thread that runs the routine stores to the control word; a thread that finds it done loads from it.
REWEAVE_EXPORT int pthread_once(pthread_once_t* control, void (*routine)()) {
  point(OpKind::kLock, control, REWEAVE_CALLER);
  use(control, REWEAVE_CALLER);
  Once once = {control, routine, REWEAVE_CALLER, false};
  // A signal handler may call it while its thread waits in another call.
  const std::uint64_t outer = self().once;
  self().once = address_of(&once);
  const int result = real_once(control, run_routine);
  self().once = outer;
  if (!once.done) note_once(EventKind::kAtomicLoad, once);
  return result;
}
