/* Memory shared between parent and child, with a process-shared mutex, condition variable and semaphore in it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kTurns = 20 };

struct shared {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  sem_t started;
  int turns, child_done;
  char order[2 * kTurns + 1];
};

static void take_turns(struct shared* s, char name) {
  for (int i = 0; i < kTurns; i++) {
    pthread_mutex_lock(&s->lock);
    s->order[s->turns++] = name;
    pthread_mutex_unlock(&s->lock);
  }
}

int main(void) {
  struct shared* s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t mutex_attr;
  pthread_condattr_t cond_attr;
  int status;
  pthread_mutexattr_init(&mutex_attr);
  pthread_mutexattr_setpshared(&mutex_attr, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&s->lock, &mutex_attr);
  pthread_condattr_init(&cond_attr);
  pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&s->changed, &cond_attr);
  sem_init(&s->started, 1, 0);

  pid_t child = fork();
  if (child == 0) {
    sem_post(&s->started);
    take_turns(s, 'c');
    pthread_mutex_lock(&s->lock);
    s->child_done = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    _exit(0);
  }
  sem_wait(&s->started);
  take_turns(s, 'p');
  pthread_mutex_lock(&s->lock);
  while (!s->child_done) pthread_cond_wait(&s->changed, &s->lock);
  pthread_mutex_unlock(&s->lock);
  waitpid(child, &status, 0);
  printf("%s\nchild %d status %d turns %d\n", s->order, child, status, s->turns);
  return s->turns == 2 * kTurns ? 0 : 1;
}
