/* Threads take turns, and spin for a while before they sleep, as libraries for parallel loops do. Usually the turn
 * comes while the thread spins. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include "check.h"

#ifdef __SANITIZE_THREAD__ /* each check of the turn is then an event of the trace */
enum { kTurns = 200 };
#else
enum { kTurns = 20000 };
#endif
enum { kSpins = 300000 };
static _Atomic int turn;
static long spun[2];

static void wait_for(int mine, int now) {
  for (int i = 0; i < kSpins; i++) {
    if (turn == now) return;
    spun[mine]++;
    __builtin_ia32_pause();
  }
  for (int seen; (seen = turn) != now;) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void* take_turns(void* argument) {
  const int mine = *(const int*)argument;
  for (int now = mine; now < kTurns; now += 2) {
    wait_for(mine, now);
    turn = now + 1;
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  return NULL;
}

int main(void) {
  int first = 0, second = 1;
  pthread_t other;
  CHECK(pthread_create(&other, NULL, take_turns, &second) == 0);
  take_turns(&first);
  CHECK(pthread_join(other, NULL) == 0 && turn == kTurns);
  printf("%d turns, spun %ld and %ld times\n", kTurns, spun[0], spun[1]);
  return 0;
}
