/* Signals to a thread that computes in a leaf function and keeps its counter below the stack pointer: the counter
 * distinguishes the iterations, everything else is the same. */
#define _GNU_SOURCE
#include <pthread.h>
#include "check.h"

static volatile sig_atomic_t handled;
static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled++;
}

/* Counts iterations until `signals` signals have been handled. */
__attribute__((noinline, optimize("O1"))) static double turns_until(int signals) {
  volatile double turns = 0;
  while (handled < signals) turns += 1;
  return turns;
}

static void* send(void* target) {
  for (int sent = 0; sent < 2; sent++) {
    usleep(10000);
    CHECK(pthread_kill(*(pthread_t*)target, SIGUSR1) == 0);
    while (handled <= sent) usleep(10000);
  }
  return NULL;
}

int main(void) {
  pthread_t sender, target = pthread_self();
  on_signal(SIGUSR1, count, 0);
  CHECK(pthread_create(&sender, NULL, send, &target) == 0);
  for (int signals = 1; signals <= 2; signals++) printf("%.0f turns\n", turns_until(signals));
  CHECK(pthread_join(sender, NULL) == 0);
  return 0;
}
