/* Threads that wait for each other, and an alarm whose handler jumps out of the wait with siglongjmp. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

#include "check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf before;

static void jump_out(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  siglongjmp(before, 1);
}

int main(void) {
  const struct itimerval soon = {{0, 0}, {0, 20000}};
  on_signal(SIGALRM, jump_out, 0);
  CHECK(pthread_mutex_lock(&lock) == 0);
  for (volatile int turn = 0; turn < 3; turn++) {
    if (sigsetjmp(before, 1) != 0) continue;
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    pthread_mutex_lock(&lock);
    return 1;
  }
  CHECK(pthread_mutex_unlock(&lock) == 0 && pthread_mutex_lock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
  puts("jumped out");
  return 0;
}
