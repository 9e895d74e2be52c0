/* A signal during a blocking read of a pipe: EINTR without SA_RESTART, a restarted read with it. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int pipe_ends[2];
static volatile sig_atomic_t handled;
static pthread_t reader;

static void handler(int signo) {
  (void)signo;
  handled++;
}

static void install(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, NULL);
}

static void* disturber(void* arg) {
  int send_byte = *(int*)arg;
  int before = handled;
  while (handled == before) {
    pthread_kill(reader, SIGUSR1);
    usleep(1000);
  }
  if (send_byte && write(pipe_ends[1], "x", 1) != 1) return arg;
  return NULL;
}

static void read_disturbed(int flags, int send_byte) {
  pthread_t t;
  char byte = '-';
  install(flags);
  pthread_create(&t, NULL, disturber, &send_byte);
  ssize_t got = read(pipe_ends[0], &byte, 1);
  int error = got < 0 ? errno : 0;
  pthread_join(t, NULL);
  printf("restart %d: read %zd error %s byte %c\n", flags == SA_RESTART, got, error ? strerror(error) : "none", byte);
}

int main(void) {
  reader = pthread_self();
  if (pipe(pipe_ends) != 0) return 1;
  /* A byte sent afterwards ends both cases, whether the signal arrives before, in or after the read. */
  read_disturbed(SA_RESTART, 1);
  read_disturbed(0, 1);
  printf("handled at least twice: %d\n", handled >= 2);
  return 0;
}
