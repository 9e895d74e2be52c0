/* Correct twin of pipe_order: the end is announced after the work, in the same pipe.
 * Expected: passes under every schedule.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int work[2];
static int done;

static void* worker(void* arg) {
  struct pollfd end = {.fd = work[0], .events = POLLIN};
  char job;
  while (poll(&end, 1, -1) > 0) {
    if (read(work[0], &job, 1) != 1) break;
    done++;
  }
  return arg;
}

int main(int argc, char** argv) {
  int jobs = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t id;
  if (pipe(work) != 0) return 2;
  pthread_create(&id, NULL, worker, NULL);
  for (int i = 0; i < jobs; i++)
    if (write(work[1], "j", 1) != 1) return 2;
  close(work[1]);
  pthread_join(id, NULL);
  printf("%d of %d jobs done\n", done, jobs);
  return done == jobs ? 0 : 1;
}
