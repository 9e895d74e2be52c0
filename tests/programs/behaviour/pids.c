/* Prints process and thread ids: its own, those that a thread gets, and a child's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void* thread(void* arg) {
  (void)arg;
  printf("thread: pid %d tid %d\n", getpid(), gettid());
  return NULL;
}

int main(void) {
  pthread_t t;
  printf("pid %d tid %d parent %d group %d session %d\n", getpid(), gettid(), getppid(), getpgrp(), getsid(0));
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    printf("child: pid %d tid %d parent %d\n", getpid(), gettid(), getppid());
    fflush(stdout);
    _exit(0);
  }
  int status;
  pid_t ended = waitpid(child, &status, 0);
  printf("forked %d, ended %d\n", child, ended);
  return status;
}
