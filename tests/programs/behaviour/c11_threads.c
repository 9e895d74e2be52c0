/* The C11 names: thrd, mtx, cnd, tss, call_once. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t lock;
static cnd_t changed;
static tss_t slot;
static once_flag once = ONCE_FLAG_INIT;
static int arrived;

static void initialise(void) { printf("initialised once\n"); }

static int thread(void* arg) {
  int me = (int)(long)arg;
  call_once(&once, initialise);
  tss_set(slot, arg);
  mtx_lock(&lock);
  arrived++;
  printf("arrival %d: thread %d\n", arrived, (int)(long)tss_get(slot));
  cnd_broadcast(&changed);
  mtx_unlock(&lock);
  if (me == 3) thrd_exit(33);
  return me;
}

int main(void) {
  thrd_t ids[4];
  struct timespec until;
  int result;
  mtx_init(&lock, mtx_timed);
  cnd_init(&changed);
  tss_create(&slot, NULL);
  for (long i = 0; i < 4; i++) thrd_create(&ids[i], thread, (void*)i);
  mtx_lock(&lock);
  while (arrived < 4) cnd_wait(&changed, &lock);
  timespec_get(&until, TIME_UTC);
  while ((result = cnd_timedwait(&changed, &lock, &until)) == thrd_success) continue;
  printf("timed out: %d\n", result == thrd_timedout);
  mtx_unlock(&lock);
  for (int i = 0; i < 4; i++) {
    thrd_join(ids[i], &result);
    printf("thread %d returned %d\n", i, result);
  }
  return 0;
}
