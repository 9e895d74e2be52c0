/* Opening a FIFO waits for its other end: for another thread, for a child, and until a signal interrupts. Opening a
 * watched file waits for the watcher's permission. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/fanotify.h>
#include "check.h"

static char name[64];

static void* writes(void* arg) {
  int fd = open(name, O_WRONLY);
  CHECK(fd >= 0 && write(fd, "hello", 5) == 5 && close(fd) == 0);
  return arg;
}

static void read_hello(void) {
  char text[8] = "";
  int fd = open(name, O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, 8) == 5 && strcmp(text, "hello") == 0);
  CHECK(read(fd, text, 8) == 0 && close(fd) == 0);
}

static void nothing(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context; }

/* Watching needs privileges. */
static void asks_for_permission(void) {
  char path[] = "/tmp/reweave-watched-XXXXXX";
  CHECK(close(mkstemp(path)) == 0);
  int watch = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
  if (watch >= 0 && fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, path) == 0) {
    pid_t child = fork();
    if (child == 0) _exit(open(path, O_RDONLY) != -1 || errno != EPERM);
    struct fanotify_event_metadata asked;
    CHECK(read(watch, &asked, sizeof asked) == sizeof asked && asked.pid == child);
    struct fanotify_response answer = {asked.fd, FAN_DENY};
    CHECK(write(watch, &answer, sizeof answer) == sizeof answer && close(asked.fd) == 0);
    expect_success(child);
  }
  if (watch >= 0) close(watch);
  unlink(path);
}

int main(void) {
  pthread_t thread;
  snprintf(name, sizeof name, "/tmp/reweave-fifo-%d", getpid());
  CHECK(mkfifo(name, 0600) == 0);
  for (int i = 0; i < 3; i++) {
    CHECK(pthread_create(&thread, NULL, writes, NULL) == 0);
    read_hello();
    CHECK(pthread_join(thread, NULL) == 0);
  }
  pid_t child = fork();
  if (child == 0) {
    writes(NULL);
    _exit(0);
  }
  read_hello();
  expect_success(child);
  FAILS(open(name, O_WRONLY | O_NONBLOCK), ENXIO);
  int fd = open(name, O_RDONLY | O_NONBLOCK);
  CHECK(fd >= 0 && close(fd) == 0);
  on_signal(SIGALRM, nothing, 0);
  child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  alarm(1);
  FAILS(open(name, O_RDONLY), EINTR);
  kill(child, SIGKILL);
  status_of(child);
  unlink(name);
  asks_for_permission();
  puts("both ends");
  return 0;
}
