// Each process has its own memory: no race.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int value;

int main(void) {
  const pid_t child = fork();
  value++;
  if (child == 0) return 0;
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
