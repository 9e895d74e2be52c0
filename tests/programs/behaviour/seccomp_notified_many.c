/* One listener for several processes and threads, which inherit the filter, also through exec; the supervisor polls,
 * and is a process that inherited the listener, or a thread of the same process. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/epoll.h>
#include "seccomp_notify.h"

enum { kCalls = 5 };

static void call_often(int offset) {
  for (int i = 0; i < kCalls; i++) CHECK(syscall(SYS_getsid, offset + i) == 1000 + offset + i);
}

static void* call_in_thread(void* arg) {
  call_often((int)(long)arg);
  return arg;
}

/* Answers until no process has the filter. Returns the number of calls. */
static int serve(int listener) {
  int count = 0;
  for (;;) {
    struct pollfd polled = {listener, POLLIN, 0};
    CHECK(poll(&polled, 1, -1) == 1);
    if ((polled.revents & POLLIN) == 0) return (polled.revents & POLLHUP) != 0 ? count : -1;
    const struct seccomp_notif got = receive(listener);
    CHECK(got.data.nr == SYS_getsid);
    CHECK(answer(listener, got.id, 1000 + (int)got.data.args[0], 0, 0) == 0);
    count++;
  }
}

static void by_processes_and_threads(const char* program) {
  int listener;
  const pid_t child = supervised(SYS_getsid, 0, &listener);
  if (child == 0) {
    const pid_t forked = fork();
    if (forked == 0) {
      execl(program, program, "called", NULL);
      _exit(1);
    }
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, call_in_thread, (void*)(100 + 100 * i)) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    expect_success(forked);
    _exit(0);
  }
  CHECK(serve(listener) == 3 * kCalls);
  expect_success(child);
  CHECK(close(listener) == 0);
}

/* The supervisor is a child of the process that it supervises, and inherits the listener. */
static void by_inheritance(void) {
  const pid_t child = fork();
  if (child == 0) {
    const int listener = listen_to(SYS_getsid, 0);
    CHECK(listener >= 0);
    const pid_t server = fork();
    if (server == 0) { /* has the filter as well, but makes no such call */
      const struct seccomp_notif got = receive(listener);
      CHECK(got.pid == (unsigned)getppid() && answer(listener, got.id, 55, 0, 0) == 0);
      _exit(0);
    }
    CHECK(syscall(SYS_getsid, 0) == 55);
    expect_success(server);
    _exit(0);
  }
  expect_success(child);
}

static int shared_listener;
static void* serve_in_thread(void* arg) {
  struct epoll_event event = {EPOLLIN, {0}};
  const int epoll = epoll_create1(0);
  CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, shared_listener, &event) == 0);
  for (int i = 0; i < kCalls; i++) {
    CHECK(epoll_wait(epoll, &event, 1, -1) == 1);
    const struct seccomp_notif got = receive(shared_listener);
    CHECK(answer(shared_listener, got.id, 1000 + (int)got.data.args[0], 0, 0) == 0);
  }
  CHECK(close(epoll) == 0);
  return arg;
}

static void* call_supervised(void* arg) {
  const int listener = listen_to(SYS_getsid, 0);
  CHECK(listener >= 0);
  __atomic_store_n(&shared_listener, listener, __ATOMIC_SEQ_CST);
  call_often(300);
  return arg;
}

static void by_a_thread(void) {
  pthread_t caller, server;
  CHECK(pthread_create(&caller, NULL, call_supervised, NULL) == 0);
  while (__atomic_load_n(&shared_listener, __ATOMIC_SEQ_CST) == 0) usleep(1000);
  CHECK(pthread_create(&server, NULL, serve_in_thread, NULL) == 0);
  CHECK(pthread_join(server, NULL) == 0 && pthread_join(caller, NULL) == 0);
  struct pollfd polled = {shared_listener, POLLIN, 0};
  CHECK(poll(&polled, 1, -1) == 1 && polled.revents == POLLHUP); /* the only thread with the filter has ended */
  CHECK(close(shared_listener) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    call_often(0);
    return 0;
  }
  by_processes_and_threads(argv[0]);
  by_inheritance();
  by_a_thread();
  puts("many notified");
  return 0;
}
