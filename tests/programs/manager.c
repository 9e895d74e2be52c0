/* Manager of a pool of buffers, whose statistics go wrong.
 *
 * Bug: taking a buffer is locked; giving one back adjusts one of the two counters outside of the lock.
 * Shown by: a preemption inside of the unlocked adjustment, while the other thread takes or gives back.
 * Idea: Manager of the RankChecker paper.
 * Expected: message and exit status 1.
 * Arguments: users (2), rounds (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int available = 8, in_use;
static int rounds = 1;

static int request(void) {
  pthread_mutex_lock(&lock);
  int got = available > 0;
  if (got) {
    available--;
    in_use++;
  }
  pthread_mutex_unlock(&lock);
  return got;
}

static void release(void) {
  pthread_mutex_lock(&lock);
  available++;
  pthread_mutex_unlock(&lock);
  in_use--;
}

static void* user(void* arg) {
  (void)arg;
  for (int i = 0; i < rounds; i++)
    if (request()) release();
  return NULL;
}

int main(int argc, char** argv) {
  int users = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) rounds = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)users, sizeof *ids);
  for (int i = 0; i < users; i++) pthread_create(&ids[i], NULL, user, NULL);
  for (int i = 0; i < users; i++) pthread_join(ids[i], NULL);
  free(ids);
  if (available + in_use != 8) {
    fprintf(stderr, "available %d, in use %d, should be 8 together\n", available, in_use);
    return 1;
  }
  printf("available %d in use %d\n", available, in_use);
  return 0;
}
