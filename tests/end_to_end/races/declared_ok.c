// Ordered by annotations in the program: no race.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_acquire(void*);
void __tsan_release(void*);
int value;
static _Atomic int ready;

static void* other(void* unused) {
  while (!atomic_load_explicit(&ready, memory_order_relaxed)) sched_yield();
  __tsan_acquire(&value);
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  value = 1;
  __tsan_release(&value);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  pthread_join(thread, 0);
  return 0;
}
