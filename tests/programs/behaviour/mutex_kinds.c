/* Normal, recursive, error-checking and robust mutexes, trylock and timedlock, with their error codes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t robust;

static void* intruder(void* arg) {
  struct timespec until;
  (void)arg;
  printf("trylock %d\n", pthread_mutex_trylock(&normal));
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 2000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  printf("timedlock %d\n", pthread_mutex_timedlock(&normal, &until));
  printf("unlock of another's %d\n", pthread_mutex_unlock(&checking));
  return NULL;
}

static void* dier(void* arg) {
  (void)arg;
  pthread_mutex_lock(&robust);
  return NULL;
}

static void* late(void* arg) {
  (void)arg;
  printf("given up, for another %d\n", pthread_mutex_lock(&robust));
  return NULL;
}

/* The owner of a robust mutex died and the next one did not call pthread_mutex_consistent: all later locks fail. */
static void given_up(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, dier, NULL);
  pthread_join(t, NULL);
  printf("robust after its owner's death %d", pthread_mutex_lock(&robust));
  pthread_create(&t, NULL, late, NULL);
  pthread_create(&u, NULL, late, NULL);
  printf(" unlock %d\n", pthread_mutex_unlock(&robust));
  printf("given up %d", pthread_mutex_lock(&robust));
  printf(" again %d\n", pthread_mutex_lock(&robust));
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  printf("tried %d\n", pthread_mutex_trylock(&robust));
}

static void* contender(void* arg) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&normal);
    printf("contender %ld round %d\n", (long)arg, i);
    pthread_mutex_unlock(&normal);
  }
  return NULL;
}

int main(void) {
  pthread_mutexattr_t attr;
  pthread_t t, u;
  pthread_mutex_lock(&normal);
  printf("recursive %d", pthread_mutex_lock(&recursive));
  printf(" %d\n", pthread_mutex_lock(&recursive));
  printf("checking %d", pthread_mutex_lock(&checking));
  printf(" again %d\n", pthread_mutex_lock(&checking));
  pthread_create(&t, NULL, intruder, NULL);
  pthread_join(t, NULL);
  pthread_mutex_unlock(&normal);
  pthread_mutex_unlock(&recursive);
  pthread_mutex_unlock(&recursive);
  printf("checking unlock %d", pthread_mutex_unlock(&checking));
  printf(" again %d\n", pthread_mutex_unlock(&checking));

  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attr);
  pthread_create(&t, NULL, dier, NULL);
  pthread_join(t, NULL);
  printf("robust after its owner's death %d", pthread_mutex_lock(&robust));
  printf(" consistent %d", pthread_mutex_consistent(&robust));
  printf(" unlock %d\n", pthread_mutex_unlock(&robust));
  given_up();

  pthread_create(&t, NULL, contender, (void*)1L);
  pthread_create(&u, NULL, contender, (void*)2L);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  return 0;
}
