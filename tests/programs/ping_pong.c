/* Ping-pong in which the player who makes the last hit throws the ball away.
 *
 * Bug: a player tests for the ball and hits it later; the other player may have thrown it away in between.
 * Shown by: one preemption after the test, while the other player makes the last hit.
 * Idea: PingPong of the RankChecker paper (a null reference).
 * Expected: null pointer dereference (SIGSEGV).
 * Arguments: hits until the end (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct ball {
  volatile int hits;
};

static struct ball only;
static struct ball* volatile ball = &only;
static int limit = 2;

static void* player(void* arg) {
  (void)arg;
  while (ball != NULL) {
    ball->hits++;
    if (only.hits >= limit) ball = NULL;
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) limit = atoi(argv[1]);
  pthread_t ping, pong;
  pthread_create(&ping, NULL, player, NULL);
  pthread_create(&pong, NULL, player, NULL);
  pthread_join(ping, NULL);
  pthread_join(pong, NULL);
  printf("hits %d\n", only.hits);
  return 0;
}
