/* A stopped process gets SIGHUP and SIGCONT when its group becomes orphaned because its parent ends. It handles or
 * ignores
   SIGHUP, or dies of it. */
#define _GNU_SOURCE
#include <time.h>
#include "check.h"

enum effect { HANDLES, IGNORES, DIES };
enum stop { BY_ITSELF, BY_PARENT };
enum session { SAME, OWN };

static volatile sig_atomic_t hung_up, continued;
static void on_either(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  if (number == SIGHUP) hung_up++;
  if (number == SIGCONT) continued++;
}

static void be_stopped(enum effect effect, enum stop stop, int ready, int report) {
  pid_t parent = getppid();
  struct timespec pause = {0, 2000000};
  CHECK(setpgid(0, 0) == 0);
  if (effect == HANDLES) {
    on_signal(SIGHUP, on_either, 0);
    on_signal(SIGCONT, on_either, 0);
  }
  if (effect == IGNORES) signal(SIGHUP, SIG_IGN);
  CHECK(write(ready, "r", 1) == 1);
  if (stop == BY_ITSELF) CHECK(raise(SIGSTOP) == 0);
  while (getppid() == parent) nanosleep(&pause, NULL);
  CHECK(effect == IGNORES || (hung_up == 1 && continued == 1));
  CHECK(write(report, "w", 1) == 1);
  _exit(0);
}

static void parent_of_one(enum effect effect, enum stop stop, enum session session, int report) {
  int ready[2], status;
  char byte;
  CHECK(session == SAME || setsid() > 0);
  CHECK(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) be_stopped(effect, stop, ready[1], report);
  CHECK(read(ready[0], &byte, 1) == 1);
  if (stop == BY_PARENT) CHECK(kill(child, SIGSTOP) == 0);
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  _exit(0);
}

static void loses_its_parent(enum effect effect, enum stop stop, enum session session) {
  int report[2];
  char byte = '?';
  CHECK(pipe(report) == 0);
  pid_t parent = fork();
  if (parent == 0) {
    close(report[0]);
    parent_of_one(effect, stop, session, report[1]);
  }
  close(report[1]);
  expect_success(parent);
  ssize_t n = read(report[0], &byte, 1);
  CHECK(effect == DIES ? n == 0 : n == 1 && byte == 'w');
  close(report[0]);
}

int main(void) {
  alarm(30);
  for (enum session session = SAME; session <= OWN; session++)
    for (enum stop stop = BY_ITSELF; stop <= BY_PARENT; stop++)
      for (enum effect effect = HANDLES; effect <= DIES; effect++) loses_its_parent(effect, stop, session);
  puts("orphaned");
  return 0;
}
