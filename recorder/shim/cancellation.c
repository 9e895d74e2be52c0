// In C, so that glibc's cleanup handlers need no exception support from this library.
#include "recorder/shim/cancellation.h"

#include <pthread.h>

int shim_cancellable_wait(int (*wait)(void*), void* argument, void (*cleanup)(void*), void* cleanup_argument) {
  int result;
  int type;
  pthread_cleanup_push(cleanup, cleanup_argument);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
  result = wait(argument);
  pthread_setcanceltype(type, NULL);
  pthread_cleanup_pop(0);
  return result;
}
