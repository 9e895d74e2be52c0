/* Locks in memory shared between processes: mutexes, conditions, barriers, semaphores; robust ones whose owner dies. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include "check.h"

struct shared {
  pthread_mutex_t plain, robust, inherited;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  pthread_rwlock_t rwlock;
  sem_t semaphore, ready;
  int count, turn;
};
static struct shared* s;

static void make_mutex(pthread_mutex_t* mutex, int robust, int protocol) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutexattr_setrobust(&attributes, robust) == 0);
  CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
  CHECK(pthread_mutex_init(mutex, &attributes) == 0);
}

static void make_all(void) {
  s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(s != MAP_FAILED);
  make_mutex(&s->plain, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  make_mutex(&s->robust, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  make_mutex(&s->inherited, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&s->condition, &condition);
  pthread_barrierattr_t barrier;
  pthread_barrierattr_init(&barrier);
  pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&s->barrier, &barrier, 3);
  pthread_rwlockattr_t rwlock;
  pthread_rwlockattr_init(&rwlock);
  pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&s->rwlock, &rwlock);
  CHECK(sem_init(&s->semaphore, 1, 0) == 0 && sem_init(&s->ready, 1, 0) == 0);
}

static void works(int number) {
  pthread_barrier_wait(&s->barrier);
  for (int i = 0; i < 50; i++) {
    CHECK(pthread_mutex_lock(&s->plain) == 0);
    while (s->turn != number) pthread_cond_wait(&s->condition, &s->plain);
    s->count++;
    s->turn = 1 - number;
    pthread_cond_broadcast(&s->condition);
    CHECK(pthread_mutex_unlock(&s->plain) == 0);
    pthread_rwlock_rdlock(&s->rwlock);
    pthread_rwlock_unlock(&s->rwlock);
  }
  pthread_rwlock_wrlock(&s->rwlock);
  sem_post(&s->semaphore);
  pthread_rwlock_unlock(&s->rwlock);
}

static void take_turns(void) {
  pid_t children[2];
  for (int i = 0; i < 2; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      works(i);
      _exit(0);
    }
  }
  pthread_barrier_wait(&s->barrier);
  for (int i = 0; i < 2; i++) CHECK(sem_wait(&s->semaphore) == 0);
  for (int i = 0; i < 2; i++) expect_success(children[i]);
  CHECK(s->count == 100);
}

static void* holds(void* mutex) {
  CHECK(pthread_mutex_lock(mutex) == 0);
  sem_post(&s->ready);
  return NULL;
}

enum death { EXITS, IS_KILLED, THREAD_ENDS, EXECS };
static void owner_dies(pthread_mutex_t* mutex, enum death how) {
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    if (how == THREAD_ENDS) {
      CHECK(pthread_create(&thread, NULL, holds, mutex) == 0 && pthread_join(thread, NULL) == 0);
      pause();
    }
    holds(mutex);
    if (how == EXITS) _exit(0);
    if (how == EXECS) execl("/bin/sleep", "sleep", "0.1", NULL);
    for (;;) pause();
  }
  CHECK(sem_wait(&s->ready) == 0);
  if (how == IS_KILLED) kill(child, SIGKILL);
  CHECK(pthread_mutex_lock(mutex) == EOWNERDEAD && pthread_mutex_consistent(mutex) == 0);
  CHECK(pthread_mutex_unlock(mutex) == 0 && pthread_mutex_lock(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
  if (how == THREAD_ENDS) kill(child, SIGKILL);
  status_of(child);
}

static void never_repaired(void) {
  pid_t child = fork();
  if (child == 0) {
    holds(&s->robust);
    _exit(0);
  }
  CHECK(sem_wait(&s->ready) == 0);
  expect_success(child);
  CHECK(pthread_mutex_lock(&s->robust) == EOWNERDEAD && pthread_mutex_unlock(&s->robust) == 0);
  CHECK(pthread_mutex_lock(&s->robust) == ENOTRECOVERABLE);
}

int main(void) {
  make_all();
  take_turns();
  pthread_mutex_t* kinds[] = {&s->robust, &s->inherited};
  for (int k = 0; k < 2; k++)
    for (enum death how = EXITS; how <= EXECS; how++) owner_dies(kinds[k], how);
  never_repaired();
  puts("shared locks");
  return 0;
}
