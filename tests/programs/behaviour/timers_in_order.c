/* Timers that expire before the end of a longer sleep or wait do so first: by a signal to the process, a signal to a
 * waiting thread, and by a thread. */
#include <semaphore.h>
#include <sys/time.h>
#include <time.h>
#include "check.h"

static volatile sig_atomic_t caught, value;
static sem_t called;

static void note(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  caught++;
  value = info->si_value.sival_int;
}

static void call(union sigval with) {
  value = with.sival_int;
  sem_post(&called);
}

static timer_t timer_in(struct sigevent* event, long milliseconds, long every) {
  timer_t timer;
  const struct itimerspec when = {{0, every * 1000000}, {0, milliseconds * 1000000}};
  CHECK(timer_create(CLOCK_MONOTONIC, event, &timer) == 0 && timer_settime(timer, 0, &when, NULL) == 0);
  return timer;
}

int main(void) {
  struct timespec second = {1, 0}, left = {0, 0};
  struct itimerspec rest;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 5};
  on_signal(SIGRTMIN, note, 0);
  on_signal(SIGALRM, note, 0);

  timer_t ticking = timer_in(&event, 20, 20);
  for (int i = 1; i <= 3; i++) CHECK(nanosleep(&second, &left) == -1 && left.tv_nsec > 0 && caught >= i && value == 5);
  CHECK(timer_gettime(ticking, &rest) == 0 && rest.it_interval.tv_nsec == 20000000 && rest.it_value.tv_nsec > 0);
  CHECK(timer_delete(ticking) == 0);

  caught = 0;
  alarm(1);
  second.tv_sec = 30;
  CHECK(nanosleep(&second, &left) == -1 && left.tv_sec > 0 && caught == 1 && alarm(0) == 0);

  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  timer_t single = timer_in(&event, 20, 0);
  CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_code == SI_TIMER && info.si_value.sival_int == 5);
  CHECK(timer_delete(single) == 0);

  CHECK(sem_init(&called, 0, 0) == 0);
  event = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = call, .sigev_value.sival_int = 7};
  timer_t threads = timer_in(&event, 20, 0);
  CHECK(sem_wait(&called) == 0 && value == 7 && timer_delete(threads) == 0);
  puts("in order");
  return 0;
}
