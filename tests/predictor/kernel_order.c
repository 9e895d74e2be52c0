/* kernel_order WAY: a thread writes `data`, then wakes the taker through the kernel, which reads `data`. With a second
   argument, the write comes after the wake-up, so there is a race. Without arguments, prints the ways. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int data, got;
static int from = -1, to = -1, other, word;
static pid_t child;
static pthread_t taker;
static sem_t* semaphore;
static char name[64];
static uint64_t one = 1, taken; /* a buffer for each side */
struct message {
  long type;
  char text[8];
};

static void require(int holds, const char* what) {
  if (holds) return;
  perror(what);
  exit(3);
}

/* Ways to wait and to wake. A make_ function first creates what they need. */
static void plain_read(void) { require(read(from, &taken, 8) >= 0, "read"); }
static void plain_write(void) { require(write(to, &one, 8) == 8, "write"); }

static void make_pipe(void) {
  int fds[2];
  require(pipe(fds) == 0, "pipe");
  from = fds[0];
  to = fds[1];
}
static void make_eventfd(void) { from = to = eventfd(0, 0); }
static void make_pair(void) {
  int fds[2];
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "socketpair");
  from = fds[0];
  to = fds[1];
}
static void make_dup(void) {
  make_pipe();
  int low = dup(from), high = fcntl(to, F_DUPFD, 100);
  close(from);
  close(to);
  from = dup2(low, 200);
  to = high;
}
static void make_fifo(void) {
  require(mkfifo(name, 0600) == 0, "mkfifo");
  from = open(name, O_RDWR);
  to = open(name, O_WRONLY);
}
static void make_passed(void) {
  make_pair();
  int near = from, far = to, fds[2];
  require(pipe(fds) == 0, "pipe");
  char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(control), &fds[1], sizeof(int));
  require(sendmsg(far, &message, 0) == 1, "sendmsg");
  require(recvmsg(near, &message, 0) == 1, "recvmsg");
  memcpy(&to, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  close(fds[1]);
  from = fds[0];
}

static int internet_socket(int type, struct sockaddr_in* address) {
  int fd = socket(AF_INET, type, 0);
  socklen_t length = sizeof *address;
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(bind(fd, (struct sockaddr*)address, length) == 0, "bind");
  require(getsockname(fd, (struct sockaddr*)address, &length) == 0, "getsockname");
  return fd;
}
static struct sockaddr_in address;
static void make_listener(void) {
  from = internet_socket(SOCK_STREAM, &address);
  require(listen(from, 5) == 0, "listen");
  to = socket(AF_INET, SOCK_STREAM, 0);
}
static void make_tcp(void) {
  make_listener();
  require(connect(to, (struct sockaddr*)&address, sizeof address) == 0, "connect");
  int listener = from;
  from = accept(listener, 0, 0);
  close(listener);
}
static void do_connect(void) { require(connect(to, (struct sockaddr*)&address, sizeof address) == 0, "connect"); }
static void do_accept(void) { require(accept(from, 0, 0) >= 0, "accept"); }
static void make_udp(void) {
  from = internet_socket(SOCK_DGRAM, &address);
  to = socket(AF_INET, SOCK_DGRAM, 0);
}
static void send_udp(void) {
  require(sendto(to, &one, 8, 0, (struct sockaddr*)&address, sizeof address) == 8, "sendto");
}
static void do_recv(void) { require(recv(from, &taken, 8, 0) >= 0, "recv"); }
static struct sockaddr_un local;
static void make_unix_datagram(void) {
  from = socket(AF_UNIX, SOCK_DGRAM, 0);
  to = socket(AF_UNIX, SOCK_DGRAM, 0);
  local.sun_family = AF_UNIX;
  strcpy(local.sun_path, name);
  require(bind(from, (struct sockaddr*)&local, sizeof local) == 0, "bind");
}
static void send_unix_datagram(void) {
  require(sendto(to, &one, 8, 0, (struct sockaddr*)&local, sizeof local) == 8, "sendto");
}

static void vector_write(void) {
  struct iovec parts[2] = {{&one, 4}, {&one, 4}};
  require(writev(to, parts, 2) == 8, "writev");
}
static void vector_read(void) {
  struct iovec parts[2] = {{&taken, 4}, {&taken, 4}};
  require(readv(from, parts, 2) == 8, "readv");
}
static void message_send(void) {
  struct iovec part = {&one, 8};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  require(sendmsg(to, &message, 0) == 8, "sendmsg");
}
static void message_receive(void) {
  struct iovec part = {&taken, 8};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  require(recvmsg(from, &message, 0) == 8, "recvmsg");
}
static void make_splice(void) {
  make_pipe();
  int first = from, fds[2];
  require(pipe(fds) == 0, "pipe");
  from = fds[0];
  other = fds[1];
  word = first;
}
static void splice_read(void) {
  require(splice(word, 0, other, 0, 8, 0) == 8, "splice");
  plain_read();
}
static void do_close(void) { close(to); }
static void do_shutdown(void) { shutdown(to, SHUT_WR); }

static void do_poll(void) {
  struct pollfd asked = {from, POLLIN, 0};
  require(poll(&asked, 1, -1) == 1, "poll");
}
static void do_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(from, &set);
  require(select(from + 1, &set, 0, 0, 0) == 1, "select");
}
static void make_epoll(void) {
  make_pipe();
  other = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &event};
  require(epoll_ctl(other, EPOLL_CTL_ADD, from, &event) == 0, "epoll_ctl");
}
static void do_epoll(void) {
  struct epoll_event event;
  require(epoll_wait(other, &event, 1, -1) == 1, "epoll_wait");
}

static mqd_t queue;
static void make_mq(void) {
  snprintf(name, sizeof name, "/reweave-%d", (int)getpid());
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
  queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &attributes);
  require(queue >= 0, "mq_open");
  from = mq_open(name, O_RDONLY);
  mq_unlink(name);
}
static void mq_give(void) { require(mq_send(queue, (char*)&one, 8, 0) == 0, "mq_send"); }
static void mq_take(void) { require(mq_receive(from, (char*)&taken, 8, 0) == 8, "mq_receive"); }
static void make_msg(void) { require((other = msgget(IPC_PRIVATE, 0600)) >= 0, "msgget"); }
static void msg_give(void) {
  struct message message = {1, "text"};
  require(msgsnd(other, &message, 8, 0) == 0, "msgsnd");
}
static void msg_take(void) {
  struct message message;
  require(msgrcv(other, &message, 8, 0, 0) == 8, "msgrcv");
  msgctl(other, IPC_RMID, 0);
}
static void make_sysv(void) { require((other = semget(IPC_PRIVATE, 1, 0600)) >= 0, "semget"); }
static void sysv_change(short by) {
  struct sembuf change = {0, by, 0};
  require(semop(other, &change, 1) == 0, "semop");
}
static void sysv_give(void) { sysv_change(1); }
static void sysv_take(void) {
  sysv_change(-1);
  semctl(other, 0, IPC_RMID);
}

static void block_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, 0);
}
static void make_signalfd(void) {
  block_signal();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  from = signalfd(-1, &set, 0);
}
static void signalfd_read(void) {
  struct signalfd_siginfo info;
  require(read(from, &info, sizeof info) == sizeof info, "read");
}
static void do_kill(void) { kill(getpid(), SIGUSR1); }
static void do_sigqueue(void) {
  union sigval value = {.sival_int = 7};
  require(sigqueue(getpid(), SIGUSR1, value) == 0, "sigqueue");
}
static void signal_wait(void) {
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGALRM);
  require(sigwaitinfo(&set, &info) > 0, "sigwaitinfo");
}
static void handler(int signal) { (void)signal; }
static void make_handler(void) {
  block_signal();
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, 0);
}
static void suspend(void) {
  sigset_t none;
  sigemptyset(&none);
  sigsuspend(&none);
}
static void kill_taker(void) { pthread_kill(taker, SIGUSR1); }
static void set_itimer(void) {
  struct itimerval soon = {.it_value = {0, 1000}};
  setitimer(ITIMER_REAL, &soon, 0);
}
static void make_timerfd(void) { from = timerfd_create(CLOCK_MONOTONIC, 0); }
static void set_timerfd(void) {
  struct itimerspec soon = {.it_value = {0, 1000000}};
  require(timerfd_settime(from, 0, &soon, 0) == 0, "timerfd_settime");
}

/* The giver takes the lock before the taker exists. */
static void make_files(void) {
  to = open(name, O_CREAT | O_RDWR, 0600);
  from = open(name, O_RDWR);
}
static void make_flock(void) {
  make_files();
  require(flock(to, LOCK_EX) == 0, "flock");
}
static void flock_give(void) { flock(to, LOCK_UN); }
static void flock_take(void) { require(flock(from, LOCK_EX) == 0, "flock"); }
static void ofd(int fd, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
  require(fcntl(fd, F_OFD_SETLKW, &lock) == 0, "fcntl");
}
static void make_ofd(void) {
  make_files();
  ofd(to, F_WRLCK);
}
static void ofd_give(void) { ofd(to, F_UNLCK); }
static void ofd_take(void) { ofd(from, F_WRLCK); }

static void make_child(void) {
  child = fork();
  for (; child == 0;) pause();
}
static void kill_child(void) { kill(child, SIGKILL); }
static void wait_child(void) { require(waitpid(child, 0, 0) == child, "waitpid"); }
/* A child reads what the giver writes and ends. The taker notices that because its pipe reaches end of file. */
static void make_chain(void) {
  int first[2], last[2];
  require(pipe(first) == 0 && pipe(last) == 0, "pipe");
  child = fork();
  if (child == 0) {
    read(first[0], &taken, 8);
    _exit(0);
  }
  close(last[1]);
  from = last[0];
  to = first[1];
}

static long futex(int operation, int value) { return syscall(SYS_futex, &word, operation, value, 0, 0, 0); }
static void futex_give(void) {
  while (futex(FUTEX_WAKE_PRIVATE, 1) == 0) sched_yield();
}
static void futex_take(void) {
  while (futex(FUTEX_WAIT_PRIVATE, 0) != 0) {
  }
}
static void make_semaphore(void) {
  semaphore = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sem_init(semaphore, 1, 0);
}
static void semaphore_give(void) { sem_post(semaphore); }
static void semaphore_take(void) { sem_wait(semaphore); }
static void nothing(void) {}

static const struct way {
  const char* name;
  void (*make)(void), (*give)(void), (*take)(void);
} ways[] = {{"pipe", make_pipe, plain_write, plain_read},
            {"eventfd", make_eventfd, plain_write, plain_read},
            {"socketpair", make_pair, plain_write, plain_read},
            {"dup", make_dup, plain_write, plain_read},
            {"fifo", make_fifo, plain_write, plain_read},
            {"passed", make_passed, plain_write, plain_read},
            {"tcp", make_tcp, plain_write, plain_read},
            {"accept", make_listener, do_connect, do_accept},
            {"udp", make_udp, send_udp, do_recv},
            {"unix-datagram", make_unix_datagram, send_unix_datagram, do_recv},
            {"vectors", make_pipe, vector_write, vector_read},
            {"messages", make_pair, message_send, message_receive},
            {"splice", make_splice, plain_write, splice_read},
            {"close", make_pipe, do_close, plain_read},
            {"shutdown", make_pair, do_shutdown, plain_read},
            {"poll", make_pipe, plain_write, do_poll},
            {"select", make_pipe, plain_write, do_select},
            {"epoll", make_epoll, plain_write, do_epoll},
            {"mq", make_mq, mq_give, mq_take},
            {"msg", make_msg, msg_give, msg_take},
            {"sysv-semaphore", make_sysv, sysv_give, sysv_take},
            {"signalfd", make_signalfd, do_kill, signalfd_read},
            {"sigwait", block_signal, do_sigqueue, signal_wait},
            {"handler", make_handler, kill_taker, suspend},
            {"itimer", block_signal, set_itimer, signal_wait},
            {"timerfd", make_timerfd, set_timerfd, plain_read},
            {"flock", make_flock, flock_give, flock_take},
            {"ofd-lock", make_ofd, ofd_give, ofd_take},
            {"waitpid", make_child, kill_child, wait_child},
            {"chain", make_chain, plain_write, plain_read},
            {"futex", nothing, futex_give, futex_take},
            {"semaphore", make_semaphore, semaphore_give, semaphore_take}};

static void* take(void* argument) {
  ((const struct way*)argument)->take();
  got = data;
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 1) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) puts(ways[i].name);
    return 0;
  }
  const struct way* way = ways;
  while (strcmp(way->name, argv[1]) != 0) way++;
  snprintf(name, sizeof name, "kernel_order.%d", (int)getpid());
  way->make();
  pthread_create(&taker, 0, take, (void*)way);
  if (argc == 2) data = 42;
  way->give();
  if (argc > 2) data = 42;
  pthread_join(taker, 0);
  printf("%d\n", got);
  unlink(name);
  return 0;
}
