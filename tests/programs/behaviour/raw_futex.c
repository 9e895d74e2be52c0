/* Futexes without libc's locks: private and shared, bitsets, requeue, wake-op, time-outs and errors. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int word, second, waiting;

static long futex(atomic_int* at, int op, int value, const void* timeout, atomic_int* at2, int value3) {
  long result = syscall(SYS_futex, at, op, value, timeout, at2, value3);
  return result < 0 ? -errno : result;
}

struct job {
  int op;
  int bits;
};

static void* waiter(void* arg) {
  struct job* job = arg;
  atomic_fetch_add(&waiting, 1);
  while (atomic_load(&word) == 0) futex(&word, job->op, 0, NULL, NULL, job->bits);
  return NULL;
}

static void round_of(const char* name, int op, int wake_op) {
  struct job jobs[2] = {{op, 1}, {op, 2}};
  pthread_t ids[2];
  word = waiting = 0;
  for (int i = 0; i < 2; i++) pthread_create(&ids[i], NULL, waiter, &jobs[i]);
  while (atomic_load(&waiting) < 2) sched_yield();
  atomic_store(&word, 1);
  for (int i = 0; i < 2; i++) printf("%s: woke %ld\n", name, futex(&word, wake_op, 1, NULL, NULL, 1 << i));
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
}

static void* sleeper(void* arg) {
  (void)arg;
  while (atomic_load(&word) == 0) futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  return NULL;
}

int main(void) {
  struct timespec soon = {0, 2000000}, past = {1, 0};
  round_of("private", FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE);
  round_of("shared", FUTEX_WAIT, FUTEX_WAKE);
  round_of("bitset", FUTEX_WAIT_BITSET_PRIVATE, FUTEX_WAKE_BITSET_PRIVATE);

  word = 5;
  printf("other value %ld\n", futex(&word, FUTEX_WAIT_PRIVATE, 4, NULL, NULL, 0));
  printf("relative time-out %ld\n", futex(&word, FUTEX_WAIT_PRIVATE, 5, &soon, NULL, 0));
  printf("absolute time-out %ld\n", futex(&word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 5, &past, NULL, -1));
  printf("no bits %ld\n", futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 5, NULL, NULL, 0));
  printf("bad address %ld\n", futex((atomic_int*)3, FUTEX_WAIT_PRIVATE, 5, NULL, NULL, 0));

  /* Requeue sleepers from the first word to the second. The schedule decides how many there are to move. */
  pthread_t ids[3];
  word = second = 0;
  for (int i = 0; i < 3; i++) pthread_create(&ids[i], NULL, sleeper, NULL);
  printf("requeue %ld\n", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void*)2L, &second, 0));
  word = 1;
  printf("wake first %ld\n", futex(&word, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0));
  printf("wake second %ld\n", futex(&second, FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0));
  for (int i = 0; i < 3; i++) pthread_join(ids[i], NULL);

  int op = FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_GT, 100);
  printf("wake op %ld", futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void*)1L, &second, op));
  printf(" second word %d\n", second);
  return 0;
}
