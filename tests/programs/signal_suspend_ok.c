/* A main thread that waits in sigsuspend for its worker to signal that the work is done.
 *
 * Correct: the signal is blocked until the wait, so it is never missed, and sigsuspend returns only when the handler
 * has run. Work is handed over before the signal is sent. Expected: passes under every schedule; it ends with an
 * assertion if sigsuspend returns for no reason.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t arrived;
static int result;

static void on_done(int number) {
  (void)number;
  arrived = 1;
}

static void* work(void* arg) {
  (void)arg;
  result = 42;
  kill(getpid(), SIGUSR1);
  return NULL;
}

int main(void) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  struct sigaction action = {.sa_handler = on_done};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t worker;
  pthread_create(&worker, NULL, work, NULL);
  sigsuspend(&before);
  assert(arrived && "sigsuspend returned without a signal");
  pthread_join(worker, NULL);
  printf("result %d\n", result);
  return 0;
}
