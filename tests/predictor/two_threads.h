/* For programs of two threads: whether the second thread passed a point before the first one changed a counter. */
#include <pthread.h>
#include <stdio.h>

/* The trace does not have these accesses, which the compiler does not instrument. */
static int second_came_first;
__attribute__((noinline)) static void note_order(const int* counter) {
  __asm__ volatile("cmpl $0, %1\n sete %b0" : "+m"(second_came_first) : "m"(*counter) : "cc");
}
__attribute__((noinline)) static int noted_order(void) {
  int noted;
  __asm__ volatile("movl %1, %0" : "=r"(noted) : "m"(second_came_first));
  return noted;
}

/* Runs both, then says if the second one came first. */
static void run_both(void* (*first)(void*), void* (*second)(void*)) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  if (noted_order()) puts("the second thread came first");
}
