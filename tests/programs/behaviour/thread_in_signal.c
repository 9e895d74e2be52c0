/* Signals directed at threads with pthread_kill, a process signal taken by a thread that does not block it, sigwait. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int directed[3], shared;
static __thread int me;
static sem_t ready;
static atomic_int finish;

static void on_directed(int signo) {
  (void)signo;
  atomic_fetch_add(&directed[me], 1);
}

static void on_shared(int signo) {
  (void)signo;
  atomic_fetch_add(&shared, 1);
}

static void* thread(void* arg) {
  me = (int)(long)arg;
  sem_post(&ready);
  while (!atomic_load(&finish)) usleep(500);
  return NULL;
}

static void* waiter(void* arg) {
  sigset_t* set = arg;
  int signo = 0;
  sigwait(set, &signo);
  printf("sigwait got %d\n", signo);
  return NULL;
}

int main(void) {
  pthread_t ids[2], w;
  sigset_t set;
  signal(SIGUSR1, on_directed);
  signal(SIGUSR2, on_shared);
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  sem_init(&ready, 0, 0);
  for (long i = 0; i < 2; i++) pthread_create(&ids[i], NULL, thread, (void*)(i + 1));
  pthread_create(&w, NULL, waiter, &set);
  for (int i = 0; i < 2; i++)
    while (sem_wait(&ready) != 0) continue;
  for (int i = 0; i < 2; i++) pthread_kill(ids[i], SIGUSR1);
  pthread_kill(pthread_self(), SIGUSR1);
  kill(getpid(), SIGUSR2);
  kill(getpid(), SIGTERM);
  while (directed[1] == 0 || directed[2] == 0 || shared == 0) usleep(500);
  atomic_store(&finish, 1);
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  pthread_join(w, NULL);
  printf("directed %d %d %d shared %d\n", directed[0], directed[1], directed[2], shared);
  return 0;
}
