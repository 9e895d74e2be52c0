/* Threads of one process traced by another: each by its own id; the end of one; a tracer that is a thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include "ptrace_check.h"

struct shared {
  volatile int tids[3];
  volatile int ready, go, done[3];
};
static struct shared* shared;

static void* thread_work(void* arg) {
  const long index = (long)arg;
  shared->tids[index] = (int)syscall(SYS_gettid);
  __atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
  while (shared->go == 0) usleep(1000);
  shared->done[index] = 1;
  if (index == 2) syscall(SYS_exit, 9);
  return NULL;
}

static int child_work(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, thread_work, (void*)(i + 1)) != 0) return 1;
  thread_work(NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return shared->done[0] + shared->done[1] + shared->done[2] == 3 ? 0 : 2;
}

static void* trace_all(void* arg) {
  const pid_t child = *(pid_t*)arg;
  for (int i = 0; i < 3; i++) {
    CHECK(ptrace(PTRACE_ATTACH, shared->tids[i], NULL, NULL) == 0);
    CHECK(stop_of(shared->tids[i]) == SIGSTOP);
  }
  CHECK(shared->tids[0] == child);
  CHECK(registers_of(shared->tids[1]).rsp != registers_of(shared->tids[2]).rsp);
  CHECK(registers_of(shared->tids[1]).fs_base != registers_of(shared->tids[2]).fs_base);
  shared->go = 1;
  usleep(20000);
  CHECK(shared->done[1] == 0 && shared->done[2] == 0); /* they are stopped */
  CHECK(ptrace(PTRACE_DETACH, shared->tids[1], NULL, NULL) == 0);
  go_on(PTRACE_CONT, shared->tids[2], 0);
  int status = -1;
  CHECK(waitpid(shared->tids[2], &status, __WALL) == shared->tids[2] && WIFEXITED(status) && WEXITSTATUS(status) == 9);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  return NULL;
}

int main(void) {
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pid_t child = fork();
  if (child == 0) _exit(child_work());
  while (shared->ready < 3) usleep(1000);
  pthread_t tracer;
  CHECK(pthread_create(&tracer, NULL, trace_all, &child) == 0);
  CHECK(pthread_join(tracer, NULL) == 0);
  expect_success(child);
  puts("threads traced");
  return 0;
}
