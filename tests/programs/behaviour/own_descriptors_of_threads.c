/* Threads and processes that get their own descriptor table at some instant. Changes to one table do not affect the
 * others, and the output shows where each write went. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include "check.h"
#include "pass_descriptor.h"

enum { kUnshare = 2, kMark = 4 }; /* CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC */
enum { kOther = 7, kFirst = 3, kLast = 60 };

static void say(int fd, const char* words) { CHECK(write(fd, words, strlen(words)) == (ssize_t)strlen(words)); }

static void in_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, function, argument) == 0 && pthread_join(thread, NULL) == 0);
}

static int is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

static long close_all(unsigned first, unsigned last, int flags) { return syscall(SYS_close_range, first, last, flags); }

static void* closes_own(void* argument) {
  CHECK(unshare(CLONE_FILES) == 0 && close(1) == 0);
  FAILS(write(1, "lost", 4), EBADF);
  return argument;
}

static void* exchanges_own(void* argument) {
  CHECK(unshare(CLONE_FILES) == 0 && dup2(1, kOther) == kOther);
  CHECK(dup2(open("/dev/null", O_WRONLY), 1) == 1);
  say(1, "nowhere\n");
  say(kOther, "of a thread\n");
  pid_t child = fork(); /* inherits the thread's table, not the others' */
  if (child == 0) {
    say(1, "nowhere\n");
    say(kOther, "of its child\n");
    _exit(0);
  }
  expect_success(child);
  return argument;
}

static void* closes_range(void* argument) {
  int flags = *(int*)argument;
  CHECK(close_all(flags == kUnshare ? 0 : 1000, flags == kUnshare ? ~0u : 1003, flags) == 0);
  CHECK(is_open(1) == (flags != kUnshare) && (close(1) == 0) == (flags != kUnshare));
  return argument;
}

static void threads(void) {
  in_thread(closes_own, NULL);
  say(1, "of main\n");
  in_thread(exchanges_own, NULL);
  CHECK(dup2(open("/dev/null", O_WRONLY), kOther) == kOther);
  say(kOther, "nowhere\n");
  say(1, "of main again\n");
  for (int i = 0; i < 2; i++) {
    int flags = i == 0 ? kUnshare : kUnshare | kMark;
    in_thread(closes_range, &flags);
    CHECK(is_open(0) && is_open(1) && is_open(2) && (fcntl(1, F_GETFD) & FD_CLOEXEC) == 0);
    say(1, "after a range\n");
  }
  FAILS(close_all(1000, 1003, 8), EINVAL);
}

/* Closes a range in the shared table, so it is closed for the other threads too. */
static void* closes_for_all(void* argument) {
  CHECK(close_all(kFirst, kLast, 0) == 0);
  return argument;
}

static void same_for_all(void) {
  CHECK(dup2(1, kLast) == kLast);
  in_thread(closes_for_all, NULL);
  CHECK(!is_open(kLast) && dup2(open("/dev/null", O_WRONLY), kLast) == kLast);
  say(kLast, "nowhere\n");
  CHECK(close_all(kFirst, kLast, 0) == 0);
}

static char stack[64 << 10] __attribute__((aligned(64)));
static volatile int closed;

static int closes_in_thread(void* argument) {
  closed = (int)syscall(SYS_close, 1) + 1;
  syscall(SYS_exit, 0);
  return argument != NULL;
}

static void thread_made_apart(void) {
  CHECK(clone(closes_in_thread, stack + sizeof stack, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, NULL) > 0);
  while (closed == 0) usleep(500);
  CHECK(closed == 1 && is_open(1));
  say(1, "after a thread made apart\n");
}

static int closes_in_process(void* argument) {
  const int flags = *(int*)argument;
  if (flags == 0) return unshare(CLONE_FILES) != 0 || close(1) != 0;
  return close_all(0, 2, flags) != 0 || is_open(1);
}

static int executes(void* argument) {
  (void)argument;
  execl("/proc/self/exe", "x", "close", NULL);
  return 1;
}

/* Processes that share their creator's table, and then get their own. */
static void processes(void) {
  int flags[] = {0, kUnshare};
  for (int i = 0; i < 2; i++) {
    expect_success(clone(closes_in_process, stack + sizeof stack, CLONE_FILES | SIGCHLD, &flags[i]));
    say(1, "after a process\n");
  }
  expect_success(clone(executes, stack + sizeof stack, CLONE_FILES | SIGCHLD, NULL));
  say(1, "after a program\n");
}

static void* gets_it_back(void* argument) {
  CHECK(unshare(CLONE_FILES) == 0 && close(1) == 0);
  int received = receive_descriptor(*(int*)argument);
  say(received, "received\n");
  int opened = open("/proc/self/fd/1", O_WRONLY | O_APPEND); /* /proc/self is the main thread's table */
  if (opened >= 0) say(opened, "opened anew\n");
  return argument;
}

static void handed_over(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  send_descriptor(ends[0], 1);
  in_thread(gets_it_back, &ends[1]);
  lseek(1, 0, SEEK_END); /* if it is a file, the reopened one had its own offset */
  say(1, "still of main\n");
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) return strcmp(argv[1], "close") != 0 || close(1) != 0;
  threads();
  same_for_all();
  thread_made_apart();
  processes();
  handed_over();
  puts("done");
  return 0;
}
