/* EFAULT, from calls of every family. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include "check.h"

#define BAD ((void*)8)
#define FAULTS(...) FAILS(syscall(__VA_ARGS__), EFAULT)

static void files(void) {
  int fd = open("/etc/passwd", O_RDONLY);
  FAULTS(SYS_read, fd, BAD, 5);
  FAULTS(SYS_pread64, fd, BAD, 5, 0);
  FAULTS(SYS_readv, fd, BAD, 1);
  FAULTS(SYS_preadv, fd, BAD, 1, 0);
  FAULTS(SYS_openat, AT_FDCWD, BAD, 0);
  FAULTS(SYS_openat2, AT_FDCWD, "/", BAD, sizeof(struct open_how));
  FAULTS(SYS_fstat, fd, BAD);
  FAULTS(SYS_newfstatat, AT_FDCWD, "/", BAD, 0);
  FAULTS(SYS_statx, AT_FDCWD, "/", 0, 0, BAD);
  FAULTS(SYS_access, BAD, 0);
  FAULTS(SYS_getcwd, BAD, 500);
  FAULTS(SYS_readlink, "/proc/self/exe", BAD, 50);
  FAULTS(SYS_sendfile, 1, fd, BAD, 1);
  FAULTS(SYS_copy_file_range, fd, BAD, fd, NULL, 1, 0);
  FAULTS(SYS_pipe2, BAD, 0);
  FAULTS(SYS_poll, BAD, 1, 0);
  FAULTS(SYS_ppoll, BAD, 1, NULL, NULL, 8);
  FAULTS(SYS_select, 5, BAD, NULL, NULL, NULL);
  FAULTS(SYS_epoll_ctl, epoll_create1(0), EPOLL_CTL_ADD, 1, BAD);
  FAULTS(SYS_timerfd_settime, timerfd_create(CLOCK_MONOTONIC, 0), 0, BAD, NULL);
  FAULTS(SYS_memfd_create, BAD, 0);
  FAULTS(SYS_getdents64, open("/", O_RDONLY), BAD, 500);
}

static void signals_and_time(void) {
  FAULTS(SYS_rt_sigaction, SIGUSR1, BAD, NULL, 8);
  FAULTS(SYS_rt_sigprocmask, SIG_BLOCK, BAD, NULL, 8);
  FAULTS(SYS_rt_sigpending, BAD, 8);
  FAULTS(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, BAD); /* SIGUSR1 would kill it */
  FAULTS(SYS_signalfd4, -1, BAD, 8, 0);
  FAULTS(SYS_sigaltstack, BAD, NULL);
  FAULTS(SYS_nanosleep, BAD, NULL);
  FAULTS(SYS_clock_gettime, CLOCK_MONOTONIC, BAD);
  FAULTS(SYS_gettimeofday, BAD, NULL);
  FAULTS(SYS_times, BAD);
  FAULTS(SYS_setitimer, 0, BAD, NULL);
  FAULTS(SYS_timer_create, CLOCK_MONOTONIC, NULL, BAD);
  FAULTS(SYS_adjtimex, BAD);
}

static void processes(void) {
  FAULTS(SYS_uname, BAD);
  FAULTS(SYS_sysinfo, BAD);
  FAULTS(SYS_getrusage, 0, BAD);
  FAULTS(SYS_prlimit64, 0, 0, NULL, BAD);
  FAULTS(SYS_getresuid, BAD, BAD, BAD);
  FAULTS(SYS_sched_getaffinity, 0, 128, BAD);
  FAULTS(SYS_sched_setaffinity, 0, 8, BAD);
  FAULTS(SYS_capget, BAD, BAD);
  FAULTS(SYS_getcpu, BAD, NULL, NULL);
  FAULTS(SYS_clone3, BAD, 88);
  FAULTS(SYS_execve, BAD, NULL, NULL);
  FAULTS(SYS_futex, BAD, FUTEX_WAIT, 0, NULL);
  FAULTS(SYS_futex, BAD, FUTEX_WAKE, 1);
  pid_t child = fork();
  if (child == 0) _exit(0);
  FAULTS(SYS_wait4, child, BAD, 0, NULL);
}

static void sockets_and_queues(void) {
  int ends[2];
  socklen_t length = 10;
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  CHECK(send(ends[0], "one", 3, 0) == 3 && send(ends[0], "two", 3, 0) == 3);
  FAULTS(SYS_recvfrom, ends[1], BAD, 3, 0, NULL, NULL);
  FAULTS(SYS_recvmsg, ends[1], BAD, 0);
  FAULTS(SYS_sendto, ends[0], BAD, 3, 0, NULL, 0);
  FAULTS(SYS_sendmsg, ends[0], BAD, 0);
  FAULTS(SYS_sendmmsg, ends[0], BAD, 2, 0);
  FAULTS(SYS_recvmmsg, ends[1], BAD, 2, MSG_DONTWAIT, NULL);
  FAULTS(SYS_getsockname, ends[0], BAD, &length);
  FAULTS(SYS_getsockopt, ends[0], SOL_SOCKET, SO_TYPE, &length, BAD);
  FAULTS(SYS_setsockopt, ends[0], SOL_SOCKET, SO_SNDBUF, BAD, 4);
  FAULTS(SYS_bind, ends[0], BAD, 10);
  FAULTS(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, BAD);
  int memory = shmget(IPC_PRIVATE, 4096, 0600), semaphores = semget(IPC_PRIVATE, 1, 0600);
  int queue = msgget(IPC_PRIVATE, 0600);
  FAULTS(SYS_shmctl, memory, IPC_STAT, BAD);
  FAULTS(SYS_semop, semaphores, BAD, 1);
  FAULTS(SYS_msgsnd, queue, BAD, 1, 0);
  CHECK(shmctl(memory, IPC_RMID, NULL) == 0 && semctl(semaphores, 0, IPC_RMID) == 0);
  CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
}

int main(void) {
  files();
  signals_and_time();
  processes();
  sockets_and_queues();
  puts("refused");
  return 0;
}
