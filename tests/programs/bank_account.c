/* Bank account with a lost update.
 *
 * Bug: deposit() reads the balance in one locked section and writes it back in another, so every access is
 * protected and the operation still is not atomic.
 * Shown by: A reads, B reads and writes, A writes: B's deposit is lost. One preemption.
 * Idea: BankAccount of the ColFinder paper and of many Java bug collections.
 * Expected: assertion on the final balance (SIGABRT).
 * Arguments: threads (2), deposits per thread (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;
static int threads = 2;
static int deposits = 2;
static pthread_barrier_t closing_time;

static void deposit(long amount) {
  pthread_mutex_lock(&lock);
  long seen = balance;
  pthread_mutex_unlock(&lock);

  pthread_mutex_lock(&lock);
  balance = seen + amount;
  pthread_mutex_unlock(&lock);
}

// Each customer checks the account once all are done.
static void audit(void) {
  pthread_mutex_lock(&lock);
  assert(balance == 10L * threads * deposits && "a deposit was lost");
  pthread_mutex_unlock(&lock);
}

static void* customer(void* arg) {
  (void)arg;
  for (int i = 0; i < deposits; i++) deposit(10);
  pthread_barrier_wait(&closing_time);
  audit();
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) deposits = atoi(argv[2]);
  pthread_barrier_init(&closing_time, NULL, (unsigned)threads);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, customer, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("balance %ld\n", balance);
  return 0;
}
