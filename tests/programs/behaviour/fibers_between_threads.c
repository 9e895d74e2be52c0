// Fibers that move between two threads and are announced to ThreadSanitizer.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

// Only a ThreadSanitizer build has these functions.
#pragma weak __tsan_get_current_fiber
#pragma weak __tsan_create_fiber
#pragma weak __tsan_destroy_fiber
#pragma weak __tsan_switch_to_fiber
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void*);
void __tsan_switch_to_fiber(void*, unsigned);

static void announce(void* fiber) {
  if (__tsan_switch_to_fiber != NULL) __tsan_switch_to_fiber(fiber, 0);
}
enum { kFibers = 2, kSteps = 20, kStack = 64 << 10 };
struct Fiber {
  ucontext_t self, *back;
  void *tsan, *back_tsan;
  int done;
  long own;
};
static struct Fiber fibers[kFibers];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[4 * kFibers], head, tail, alive = kFibers;
static long shared;
static void body(int i) {
  struct Fiber* me = &fibers[i];
  for (int step = 0; step <= kSteps; step++) {
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    me->own++;
    me->done = step == kSteps;
    announce(me->back_tsan);
    swapcontext(&me->self, me->back);
  }
}
static void* worker(void* unused) {
  ucontext_t here;
  for (;;) {
    pthread_mutex_lock(&lock);
    int i = head != tail ? queue[head++ % (4 * kFibers)] : -1, left = alive;
    pthread_mutex_unlock(&lock);
    if (left == 0) return unused;
    if (i < 0) {
      sched_yield();
      continue;
    }
    fibers[i].back = &here;
    if (__tsan_get_current_fiber != NULL) fibers[i].back_tsan = __tsan_get_current_fiber();
    announce(fibers[i].tsan);
    swapcontext(&here, &fibers[i].self);
    pthread_mutex_lock(&lock);
    if (fibers[i].done)
      alive--;
    else
      queue[tail++ % (4 * kFibers)] = i;
    pthread_mutex_unlock(&lock);
  }
}
int main(void) {
  for (int i = 0; i < kFibers; i++) {
    getcontext(&fibers[i].self);
    fibers[i].self.uc_stack = (stack_t){.ss_sp = malloc(kStack), .ss_size = kStack};
    makecontext(&fibers[i].self, (void (*)(void))body, 1, i);
    if (__tsan_create_fiber != NULL) fibers[i].tsan = __tsan_create_fiber(0);
    queue[tail++] = i;
  }
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < kFibers && __tsan_destroy_fiber != NULL; i++) __tsan_destroy_fiber(fibers[i].tsan);
  printf("%ld\n", shared);
  return shared != kFibers * (kSteps + 1);
}
