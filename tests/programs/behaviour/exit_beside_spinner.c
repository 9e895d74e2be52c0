/* The first thread of a child ends the process while another computes and makes no system call; the parent computes
 * before it waits.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void* spin(void* argument) {
  if (write(ends[1], "x", 1) != 1) return NULL;
  for (volatile long i = 0;; i++) {
  }
  return argument;
}

int main(void) {
  int status;
  char byte;
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, spin, NULL) != 0 || read(ends[0], &byte, 1) != 1) return 1;
    return 66;
  }
  for (volatile long i = 0; i < 20000000; i++) {
  }
  if (waitpid(child, &status, 0) != child) return 1;
  printf("status %d\n", WEXITSTATUS(status));
  return 0;
}
