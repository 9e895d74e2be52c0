/* Work handed over through a pipe whose end is announced through another one.
 *
 * Bug: the worker polls both pipes and checks "stop" first, although there may still be work in the other one.
 * Shown by: the producer writes its last job and the stop before the worker polls: both are ready, the job is lost.
 * Idea: self-pipe shutdowns of event loops that drop what is queued.
 * Expected: exit status 1, a job was not done.
 * Arguments: jobs (2).
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int work[2], stop[2];
static int done;

static void* worker(void* arg) {
  struct pollfd ends[2] = {{.fd = work[0], .events = POLLIN}, {.fd = stop[0], .events = POLLIN}};
  char job;
  while (poll(ends, 2, -1) > 0) {
    if (ends[1].revents != 0) break;
    if (ends[0].revents != 0 && read(work[0], &job, 1) == 1) done++;
  }
  return arg;
}

int main(int argc, char** argv) {
  int jobs = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t id;
  if (pipe(work) != 0 || pipe(stop) != 0) return 2;
  pthread_create(&id, NULL, worker, NULL);
  for (int i = 0; i < jobs; i++)
    if (write(work[1], "j", 1) != 1) return 2;
  if (write(stop[1], "s", 1) != 1) return 2;
  pthread_join(id, NULL);
  printf("%d of %d jobs done\n", done, jobs);
  return done == jobs ? 0 : 1;
}
