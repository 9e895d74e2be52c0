/* Clocks read in a tight loop, where the time may not come from the kernel: no clock goes back, within a thread,
 * between threads or between processes; the time spent sleeping and computing shows; a bad address is an error. */
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

enum { ROUNDS = 20000, SECOND = 1000000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t latest;

static int64_t now(clockid_t clock) {
  struct timespec time;
  CHECK(clock_gettime(clock, &time) == 0 && time.tv_nsec >= 0 && time.tv_nsec < SECOND);
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static int64_t time_of_day(void) {
  struct timeval time;
  CHECK(gettimeofday(&time, NULL) == 0 && time.tv_usec >= 0 && time.tv_usec < 1000000);
  return (int64_t)time.tv_sec * SECOND + time.tv_usec * 1000;
}

static int64_t loop(clockid_t clock, int rounds) {
  const int64_t first = now(clock);
  int64_t last = first;
  for (int i = 0; i < rounds; i++) {
    const int64_t time = now(clock);
    CHECK(time >= last);
    last = time;
  }
  return last - first;
}

/* A later reading never shows an earlier time, whichever thread reads. */
static void* shared_loop(void* unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&lock);
    const int64_t time = now(CLOCK_MONOTONIC);
    CHECK(time >= latest);
    latest = time;
    pthread_mutex_unlock(&lock);
    if (i % 100 == 0) loop(CLOCK_MONOTONIC, 100);
  }
  return NULL;
}

static void sleeps_are_seen(void) {
  const struct timespec nap = {0, 300000};
  for (int i = 0; i < 20; i++) {
    loop(CLOCK_MONOTONIC, 1000);
    const int64_t before = now(CLOCK_MONOTONIC), before_real = now(CLOCK_REALTIME);
    nanosleep(&nap, NULL);
    CHECK(now(CLOCK_MONOTONIC) - before >= nap.tv_nsec);
    CHECK(now(CLOCK_REALTIME) - before_real >= nap.tv_nsec);
  }
}

static void children_follow(void) {
  for (int i = 0; i < 5; i++) {
    loop(CLOCK_MONOTONIC, 1000);
    const int64_t before = now(CLOCK_MONOTONIC);
    const pid_t child = fork();
    if (child == 0) {
      CHECK(now(CLOCK_MONOTONIC) >= before);
      loop(CLOCK_MONOTONIC, 1000);
      _exit(0);
    }
    expect_success(child);
    CHECK(now(CLOCK_MONOTONIC) >= before);
  }
}

int main(void) {
  printf("monotonic passed %d\n", loop(CLOCK_MONOTONIC, ROUNDS) > 0);
  printf("realtime passed %d\n", loop(CLOCK_REALTIME, ROUNDS) > 0);
  loop(CLOCK_PROCESS_CPUTIME_ID, 1000);
  loop(CLOCK_BOOTTIME, 1000);
  for (int i = 0; i < ROUNDS; i++) CHECK(now(CLOCK_MONOTONIC) > 0 && now(CLOCK_REALTIME) > 0);
  for (int i = 0; i < ROUNDS; i++) {
    const int64_t before = now(CLOCK_REALTIME);
    CHECK(time_of_day() / 1000 >= before / 1000);
  }
  sleeps_are_seen();
  children_follow();
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, shared_loop, NULL) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < 10; i++) {
    FAILS(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, 8), EFAULT);
    FAILS(syscall(SYS_clock_gettime, 99, &lock), EINVAL);
    FAILS(syscall(SYS_gettimeofday, 8, 0), EFAULT);
  }
  printf("at the end %ld\n", (long)(now(CLOCK_MONOTONIC) % SECOND));
  return 0;
}
