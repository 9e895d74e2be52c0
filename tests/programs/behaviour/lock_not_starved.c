// A thread that takes a lock again as soon as it has released it, and sleeps in the kernel while holding it, must let
// others have it.
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define WAITERS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int word;  // 0 free, 1 taken, 2 taken and a thread waits
static int by_futex, ended, file;

static void lock(void) {
  if (!by_futex) {
    pthread_mutex_lock(&mutex);
    return;
  }
  int seen = 0;
  if (atomic_compare_exchange_strong(&word, &seen, 1)) return;
  while (atomic_exchange(&word, 2) != 0) syscall(SYS_futex, &word, FUTEX_WAIT, 2, NULL, NULL, 0);
}

static void unlock(void) {
  if (!by_futex)
    pthread_mutex_unlock(&mutex);
  else if (atomic_exchange(&word, 0) == 2)
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void* hog(void* unused) {
  for (int i = 0;; i++) {
    lock();
    const int stop = ended;
    if (i % 100 == 0) CHECK(write(file, ".", 1) == 1);
    unlock();
    if (stop) return unused;
  }
}

static void* user(void* unused) {
  for (int i = 0; i < 20; i++) {
    lock();
    unlock();
  }
  return unused;
}

int main(void) {
  file = open("/dev/null", O_WRONLY);
  for (by_futex = 0; by_futex < 2; by_futex++) {
    pthread_t thread[WAITERS + 1];
    ended = 0;
    CHECK(pthread_create(&thread[0], NULL, hog, NULL) == 0);
    for (int i = 1; i <= WAITERS; i++) CHECK(pthread_create(&thread[i], NULL, user, NULL) == 0);
    for (int i = 1; i <= WAITERS; i++) CHECK(pthread_join(thread[i], NULL) == 0);
    lock();
    ended = 1;
    unlock();
    CHECK(pthread_join(thread[0], NULL) == 0);
    printf("%s: all had their turn\n", by_futex ? "futex" : "mutex");
  }
  return 0;
}
