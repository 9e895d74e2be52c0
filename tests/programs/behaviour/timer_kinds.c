/* Interval and POSIX timers with all ways of notification, timerfd, and clocks of threads and processes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>
#include "check.h"

static volatile sig_atomic_t rings;
static volatile int value, code;
static void ring(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  rings++, value = info->si_value.sival_int, code = info->si_code;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t notified = PTHREAD_COND_INITIALIZER;
static int notifications;
static void notify(union sigval given) {
  pthread_mutex_lock(&mutex);
  notifications += given.sival_int;
  pthread_cond_signal(&notified);
  pthread_mutex_unlock(&mutex);
}

static void posix_timers(void) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2, .sigev_value.sival_int = 77};
  struct itimerspec soon = {{0, 5000000}, {0, 5000000}}, old;
  on_signal(SIGRTMIN + 2, ring, 0);
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
  while (rings < 3) pause();
  CHECK(value == 77 && code == SI_TIMER && timer_gettime(timer, &old) == 0 && old.it_interval.tv_nsec == 5000000);
  CHECK(timer_getoverrun(timer) >= 0 && timer_delete(timer) == 0);
  event.sigev_notify = SIGEV_THREAD_ID, event._sigev_un._tid = gettid(), event.sigev_value.sival_int = 78;
  soon.it_interval.tv_nsec = 0;
  CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
  while (value != 78) pause();
  CHECK(timer_delete(timer) == 0);
  struct sigevent by_thread = {
      .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify, .sigev_value.sival_int = 1};
  CHECK(timer_create(CLOCK_MONOTONIC, &by_thread, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
  pthread_mutex_lock(&mutex);
  while (notifications == 0) pthread_cond_wait(&notified, &mutex);
  pthread_mutex_unlock(&mutex);
  CHECK(timer_delete(timer) == 0);
  FAILS(timer_create(999, &event, &timer), EINVAL);
}

static void interval_timers(void) {
  const int kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}, signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  for (int i = 0; i < 3; i++) {
    struct itimerval soon = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}}, seen;
    on_signal(signals[i], ring, 0);
    rings = 0;
    CHECK(setitimer(kinds[i], &soon, NULL) == 0);
    while (rings < 2)
      for (int k = 0; k < 1000; k++) getppid();
    CHECK(getitimer(kinds[i], &seen) == 0 && seen.it_interval.tv_usec > 0);
    CHECK(setitimer(kinds[i], &none, &seen) == 0);
  }
  CHECK(alarm(100) == 0 && alarm(0) == 100);
}

static void timer_descriptors(void) {
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct itimerspec soon = {{0, 3000000}, {0, 3000000}}, seen;
  uint64_t times;
  CHECK(fd >= 0);
  FAILS(read(fd, &times, sizeof times), EAGAIN);
  CHECK(timerfd_settime(fd, 0, &soon, NULL) == 0 && fcntl(fd, F_SETFL, 0) == 0);
  CHECK(read(fd, &times, sizeof times) == 8 && times >= 1);
  CHECK(timerfd_gettime(fd, &seen) == 0 && seen.it_interval.tv_nsec == 3000000);
  printf("expired %lu times, %ld left\n", (unsigned long)times, seen.it_value.tv_nsec);
}

static void* burns(void* arg) {
  struct timespec time;
  clockid_t clock;
  CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock_gettime(clock, &time) == 0);
  *(long*)arg = time.tv_nsec;
  return NULL;
}

static void cpu_clocks(void) {
  struct timespec time;
  clockid_t clock;
  struct tms used;
  struct rusage usage;
  pthread_t thread;
  long in_thread;
  CHECK(clock_getcpuclockid(getpid(), &clock) == 0 && clock_gettime(clock, &time) == 0);
  printf("process %ld\n", time.tv_nsec);
  CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 && clock_getres(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
  CHECK(pthread_create(&thread, NULL, burns, &in_thread) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(times(&used) != (clock_t)-1 && getrusage(RUSAGE_SELF, &usage) == 0 && getrusage(RUSAGE_THREAD, &usage) == 0);
  printf("thread %ld, clock %ld, %ld switches\n", in_thread, (long)clock_gettime(CLOCK_BOOTTIME, &time),
         usage.ru_nvcsw);
}

int main(void) {
  posix_timers();
  interval_timers();
  timer_descriptors();
  cpu_clocks();
  puts("timers");
  return 0;
}
