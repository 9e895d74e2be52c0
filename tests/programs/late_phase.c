/* A lost update in the second phase of a program; the first is long and has one thread.
 *
 * Bug: as bank_account, in transfer().
 * Shown by: as there. One preemption.
 * Expected: exit status 1. Explored runs that begin at second_phase() need not repeat prepare().
 * Arguments: passes over the table (20); "helper" starts a thread before the second phase, which
 * lives until after it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWords = 512, kRounds = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static unsigned table[kWords];
static long total;

static void prepare(int passes) {
  char* text = malloc(100);
  for (int pass = 0; pass < passes; pass++)
    for (int i = 1; i < kWords; i++) table[i] = table[i] * 31 + table[i - 1] + 1;
  free(text);
}

static void transfer(void) {
  pthread_mutex_lock(&lock);
  long seen = total;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  total = seen + 1;
  pthread_mutex_unlock(&lock);
}

static void* customer(void* arg) {
  for (int i = 0; i < kRounds; i++) transfer();
  return arg;
}

static void* helper(void* arg) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return arg;
}

__attribute__((noinline)) void never_called(void) { puts("never"); }

__attribute__((noinline)) int second_phase(void) {
  pthread_t threads[2];
  char* text = malloc(50);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, customer, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  free(text);
  printf("total %ld\n", total);
  return total == 2 * kRounds ? 0 : 1;
}

int main(int argc, char** argv) {
  prepare(argc > 1 ? atoi(argv[1]) : 20);
  pthread_t thread;
  pthread_mutex_lock(&gate);
  if (argc > 2) pthread_create(&thread, NULL, helper, NULL);
  if (argc > 3) never_called();
  int status = second_phase();
  pthread_mutex_unlock(&gate);
  if (argc > 2) pthread_join(thread, NULL);
  return status;
}
