/* The effect of an alarm on each waiting call: EINTR or a restart, by SA_RESTART and by the call (signal(7)). */
#define _GNU_SOURCE
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include "check.h"

static volatile sig_atomic_t rings;
static void ring(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  rings++;
}

static void set_alarm(long ms, long again_ms) {
  struct itimerval timer = {{0, again_ms * 1000}, {0, ms * 1000}};
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void in_ms(long ms) {
  rings = 0;
  set_alarm(ms, 0);
}

/* On a busy machine the alarm may ring before the call waits. Then the next alarm interrupts it. */
static void in_ms_or_later(long ms) {
  rings = 0;
  set_alarm(ms, 900);
}

#define INTERRUPTED(call) \
  do {                    \
    in_ms_or_later(20);   \
    FAILS(call, EINTR);   \
    set_alarm(0, 0);      \
    CHECK(rings > 0);     \
  } while (0)

static void always_interrupted(int flags) {
  struct pollfd nothing = {-1, 0, 0};
  struct epoll_event event;
  fd_set set;
  FD_ZERO(&set);
  on_signal(SIGALRM, ring, flags);
  int epoll = epoll_create1(0);
  INTERRUPTED(pause());
  INTERRUPTED(poll(&nothing, 1, 5000));
  INTERRUPTED(ppoll(&nothing, 1, NULL, NULL));
  INTERRUPTED(select(0, &set, NULL, NULL, NULL));
  INTERRUPTED(pselect(0, &set, NULL, NULL, NULL, NULL));
  INTERRUPTED(epoll_wait(epoll, &event, 1, 5000));
  struct timespec five = {5, 0}, left = {0, 0};
  INTERRUPTED(nanosleep(&five, &left));
  CHECK(left.tv_sec == 4 && left.tv_nsec > 0);
  left.tv_sec = 0;
  in_ms_or_later(20);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &five, &left) == EINTR && left.tv_sec == 4);
  set_alarm(0, 0);
  printf("left %ld %ld\n", (long)left.tv_sec, left.tv_nsec);
  sigset_t none;
  sigemptyset(&none);
  INTERRUPTED(sigsuspend(&none));
  sigaddset(&none, SIGUSR1);
  INTERRUPTED(sigtimedwait(&none, NULL, &five));
  int sems = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
  struct sembuf down = {0, -1, 0};
  char message[64];
  INTERRUPTED(semop(sems, &down, 1));
  INTERRUPTED(msgrcv(queue, message, 8, 0, 0));
  CHECK(semctl(sems, 0, IPC_RMID) == 0 && msgctl(queue, IPC_RMID, NULL) == 0);
  close(epoll);
}

static void without_restart(void) {
  int ends[2], pair[2];
  char byte;
  struct msghdr message = {0};
  on_signal(SIGALRM, ring, 0);
  CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  INTERRUPTED(read(ends[0], &byte, 1));
  INTERRUPTED(recv(pair[0], &byte, 1, 0));
  struct iovec part = {&byte, 1};
  message.msg_iov = &part, message.msg_iovlen = 1;
  INTERRUPTED(recvmsg(pair[0], &message, 0));
  INTERRUPTED(readv(ends[0], &part, 1));
  sem_t semaphore;
  CHECK(sem_init(&semaphore, 0, 0) == 0);
  INTERRUPTED(sem_wait(&semaphore));
  pid_t child = fork();
  if (child == 0) {
    CHECK(read(ends[0], &byte, 1) == 1);
    _exit(0);
  }
  INTERRUPTED(waitpid(child, NULL, 0));
  CHECK(write(ends[1], "x", 1) == 1);
  expect_success(child);
}

/* The child ends the wait after the alarm has rung. */
static void with_restart(void) {
  int ends[2];
  char byte;
  on_signal(SIGALRM, ring, SA_RESTART);
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    usleep(100000);
    CHECK(write(ends[1], "x", 1) == 1);
    usleep(100000);
    _exit(3);
  }
  in_ms(20);
  CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x' && rings == 1);
  in_ms(20);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3 && rings == 1);
}

int main(void) {
  always_interrupted(0);
  always_interrupted(SA_RESTART);
  without_restart();
  with_restart();
  puts("interrupted as signal(7) says");
  return 0;
}
