// The value is handed over with fences, which ThreadSanitizer does not understand, so it reports a race.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int value;
static _Atomic int ready;

static void* other(void* unused) {
  while (!atomic_load_explicit(&ready, memory_order_relaxed)) sched_yield();
  atomic_thread_fence(memory_order_acquire);
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  value = 1;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  pthread_join(thread, 0);
  return 0;
}
