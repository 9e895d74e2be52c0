/* A thread computes while no other thread can run, wakes another, and computes again at the same place, where it must
 * give way: its earlier pass there does not belong to the loop in which it is preempted. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

enum { TURNS = 300000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static sem_t begun;

/* Unreachable code jumps to each instruction, so none can be patched together with the next one. */
__attribute__((noinline)) static uint64_t compute(uint64_t x) {
  uint64_t turns = TURNS;
  __asm__ volatile(
      "1: imul $3, %0, %0\n\t2: add $1, %0\n\t3: dec %1\n\t4: jne 1b\n\t5: jmp 6f\n\t"
      "jmp 2b\n\tjmp 3b\n\tjmp 4b\n\tjmp 5b\n\t6:"
      : "+a"(x), "+b"(turns)
      :
      : "cc");
  return x;
}

static void* wait_and_compute(void* argument) {
  sem_post(&begun);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return (void*)compute((uint64_t)argument);
}

int main(void) {
  pthread_t thread;
  if (sem_init(&begun, 0, 0) != 0 || pthread_mutex_lock(&mutex) != 0) return 1;
  if (pthread_create(&thread, NULL, wait_and_compute, (void*)5L) != 0) return 1;
  sem_wait(&begun);
  uint64_t x = compute(3);
  pthread_mutex_unlock(&mutex);
  x = compute(x);
  void* other;
  if (pthread_join(thread, &other) != 0) return 1;
  printf("%llx %llx\n", (unsigned long long)x, (unsigned long long)(uintptr_t)other);
  return 0;
}
