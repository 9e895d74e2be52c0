// C11 threads: glibc's versions call its internal functions, which are not interposed; these call the interposed ones.
#include <pthread.h>
#include <threads.h>

#include <cerrno>

#include "recorder/shim/runtime.h"

namespace {

int to_c11(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* mutex_of(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* condition_of(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

}  // namespace

REWEAVE_EXPORT int mtx_lock(mtx_t* mutex) { return to_c11(pthread_mutex_lock(mutex_of(mutex))); }
REWEAVE_EXPORT int mtx_trylock(mtx_t* mutex) { return to_c11(pthread_mutex_trylock(mutex_of(mutex))); }
REWEAVE_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  return to_c11(pthread_mutex_timedlock(mutex_of(mutex), deadline));
}
REWEAVE_EXPORT int mtx_unlock(mtx_t* mutex) { return to_c11(pthread_mutex_unlock(mutex_of(mutex))); }
REWEAVE_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return to_c11(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}
REWEAVE_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* deadline) {
  return to_c11(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), deadline));
}
REWEAVE_EXPORT int cnd_signal(cnd_t* condition) { return to_c11(pthread_cond_signal(condition_of(condition))); }
REWEAVE_EXPORT int cnd_broadcast(cnd_t* condition) { return to_c11(pthread_cond_broadcast(condition_of(condition))); }
REWEAVE_EXPORT void cnd_destroy(cnd_t*) {}
REWEAVE_EXPORT void call_once(once_flag* flag, void (*routine)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}
