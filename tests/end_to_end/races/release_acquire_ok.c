// The value is handed over with a release store and an acquire load: no race.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int value;
static _Atomic int ready;

static void* other(void* unused) {
  while (!atomic_load_explicit(&ready, memory_order_acquire)) sched_yield();
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  value = 1;
  atomic_store_explicit(&ready, 1, memory_order_release);
  pthread_join(thread, 0);
  return 0;
}
