/* Two threads wait for each other in loops of plain loads, and a third counts how often it found nothing changed: the
 * output depends on where each was preempted. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 5 };

static volatile int turn;
static atomic_int done;
static volatile unsigned long idle;
static unsigned long seen[2][ROUNDS];

static void* player(void* arg) {
  const int me = (int)(long)arg;
  for (int i = 0; i < ROUNDS; i++) {
    while (turn != me) continue;
    seen[me][i] = idle;
    turn = 1 - me;
  }
  atomic_fetch_add(&done, 1);
  return NULL;
}

static void* observer(void* arg) {
  while (atomic_load(&done) < 2) idle++;
  return arg;
}

int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, observer, NULL);
  pthread_create(&threads[1], NULL, player, (void*)0);
  pthread_create(&threads[2], NULL, player, (void*)1);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < ROUNDS; i++) printf("seen %lu and %lu\n", seen[0][i], seen[1][i]);
  printf("idle %lu\n", idle);
  return 0;
}
