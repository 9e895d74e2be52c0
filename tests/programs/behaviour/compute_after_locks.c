/* Threads that compute only in registers, after calls that a trace records: the values that the calls leave in
 * caller-saved registers persist as long as the loop runs, and identify the instant at which other threads ran. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

#include "fill_registers.h"

enum { THREADS = 2, TURNS = 250000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t posts;

static uint64_t compute(uint64_t x) {
  uint64_t turns = TURNS;
  __asm__ volatile("1: imul $3, %0, %0\n\tadd $1, %0\n\tdec %1\n\tjne 1b" : "+a"(x), "+b"(turns) : : "cc");
  return x;
}

static void* work(void* argument) {
  uint64_t x = (uint64_t)argument;
  fill_registers();
  pthread_mutex_lock(&mutex);
  x = compute(x);
  pthread_mutex_unlock(&mutex);
  fill_registers();
  pthread_rwlock_rdlock(&lock);
  x = compute(x);
  pthread_rwlock_unlock(&lock);
  fill_registers();
  sem_post(&posts);
  return (void*)compute(x);
}

int main(void) {
  pthread_t threads[THREADS];
  if (sem_init(&posts, 0, 0) != 0) return 1;
  for (long i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
  for (int i = 0; i < THREADS; i++) {
    void* result;
    if (pthread_join(threads[i], &result) != 0) return 1;
    printf("%llx\n", (unsigned long long)(uintptr_t)result);
  }
  return 0;
}
