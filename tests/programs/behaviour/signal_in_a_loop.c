/* Signals to a thread that counts while it waits: the handler's frame keeps all flags of the interrupted iteration,
 * and stays on the stack while the thread continues to count. */
#define _GNU_SOURCE
#include <pthread.h>
#include "check.h"

static volatile sig_atomic_t handled;
static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled++;
}

static volatile int told;
static void* count_until_told(void* unused) {
  volatile unsigned turns = 0;
  (void)unused;
  while (told == 0) turns++;
  return NULL;
}

int main(void) {
  pthread_t worker;
  on_signal(SIGUSR1, count, 0);
  CHECK(pthread_create(&worker, NULL, count_until_told, NULL) == 0);
  for (int sent = 1; sent <= 8; sent++) {
    usleep(10000);
    CHECK(pthread_kill(worker, SIGUSR1) == 0);
    while (handled < sent) usleep(10000);
  }
  told = 1;
  CHECK(pthread_join(worker, NULL) == 0);
  puts("8 signals handled");
  return 0;
}
