/* Children count in shared memory, under a shared lock and in turns by a semaphore. The parent learns of their ends by
 * SIGCHLD.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
  pthread_mutex_t lock;
  sem_t turn;
  int count, order;
};

static volatile sig_atomic_t ended;

static void note(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) ended++;
}

static void work(struct shared* shared, int number) {
  for (int k = 0; k < 3; k++) {
    pthread_mutex_lock(&shared->lock);
    shared->count++;
    pthread_mutex_unlock(&shared->lock);
  }
  sem_wait(&shared->turn);
  shared->order += number;
  sem_post(&shared->turn);
}

int main(void) {
  struct shared* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->lock, &attributes);
  sem_init(&shared->turn, 1, 1);
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  struct sigaction action = {.sa_handler = note};
  sigaction(SIGCHLD, &action, NULL);
  for (int i = 1; i <= 2; i++)
    if (fork() == 0) {
      work(shared, i);
      _exit(0);
    }
  while (ended < 2) sigsuspend(&before);
  printf("%d counts of 6, order %d\n", shared->count, shared->order);
  return shared->count == 6 && shared->order == 3 ? 0 : 1;
}
