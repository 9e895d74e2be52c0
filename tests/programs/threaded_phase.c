/* A lost update in the second phase of a program. Its threads already exist in the long first phase.
 *
 * Bug: as bank_account, in transfer().
 * Shown by: as there. One preemption.
 * Expected: exit status 1. Explored runs that begin at second_phase() find it. There all threads wait, in various
 * ways: for a condition with and without a time limit, in read(), asleep, and one that was stopped while it computed.
 * Exit status 3 must never happen: a thread lost its own data. Arguments: passes over the table (5), workers (4),
 * "plain": the threads wait for the condition only, without a time limit; "quit": the same, and the second phase ends
 * the program at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kWords = 512, kRounds = 2, kMostWorkers = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER, prepared = PTHREAD_COND_INITIALIZER;
static int open_gate, waiting, passes = 5, workers = 4, plain, quit, pipe_ends[2];
static long total, damaged;
static __thread long own;
static unsigned tables[kMostWorkers][kWords];

static void prepare(unsigned* table) {
  for (int pass = 0; pass < passes; pass++)
    for (int i = 1; i < kWords; i++) table[i] = table[i] * 31 + table[i - 1] + 1;
}

static void transfer(void) {
  pthread_mutex_lock(&lock);
  long seen = total;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  total = seen + 1;
  pthread_mutex_unlock(&lock);
}

static void await_gate(long id) {
  struct timespec late;
  if (!plain) clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  pthread_mutex_lock(&gate);
  waiting++;
  pthread_cond_signal(&prepared);
  while (!open_gate)
    if (plain || id % 2 == 0)
      pthread_cond_wait(&opened, &gate);
    else
      pthread_cond_timedwait(&opened, &gate, &late);
  pthread_mutex_unlock(&gate);
}

static void await_byte(void) {
  char byte;
  pthread_mutex_lock(&gate);
  waiting++;
  pthread_cond_signal(&prepared);
  pthread_mutex_unlock(&gate);
  if (read(pipe_ends[0], &byte, 1) != 1) exit(3);
}

static void* worker(void* arg) {
  const long id = (long)arg;
  own = id * 1000003;
  const double half = (double)id / 2;
  prepare(tables[id]);
  if (id == 2 && !plain)
    await_byte();
  else
    await_gate(id);
  for (int i = 0; i < kRounds; i++) transfer();
  if (own != id * 1000003 || half * 2 != (double)id) damaged++;
  return arg;
}

/* Sleeps repeatedly until the second phase is over. */
static void* sleeper(void* arg) {
  const struct timespec moment = {0, 1000000};
  for (int open = 0; !open;) {
    nanosleep(&moment, NULL);
    pthread_mutex_lock(&gate);
    open = open_gate;
    pthread_mutex_unlock(&gate);
  }
  return arg;
}

__attribute__((noinline)) void second_phase(void) {
  if (quit) _exit(0);
  pthread_mutex_lock(&gate);
  open_gate = 1;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&gate);
  if (workers > 2 && !plain && write(pipe_ends[1], "x", 1) != 1) exit(3);
}

int main(int argc, char** argv) {
  pthread_t threads[kMostWorkers], asleep;
  if (argc > 1) passes = atoi(argv[1]);
  if (argc > 2) workers = atoi(argv[2]);
  quit = argc > 3 && strcmp(argv[3], "quit") == 0;
  plain = quit || (argc > 3 && strcmp(argv[3], "plain") == 0);
  if (workers < 1 || workers > kMostWorkers || pipe(pipe_ends) != 0) return 2;
  for (long i = 0; i < workers; i++) pthread_create(&threads[i], NULL, worker, (void*)i);
  if (!plain) pthread_create(&asleep, NULL, sleeper, NULL);
  pthread_mutex_lock(&gate);
  while (waiting < workers) pthread_cond_wait(&prepared, &gate);
  pthread_mutex_unlock(&gate);
  second_phase();
  for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
  if (!plain) pthread_join(asleep, NULL);
  printf("total %ld\n", total);
  if (damaged != 0) return 3;
  return total == (long)workers * kRounds ? 0 : 1;
}
