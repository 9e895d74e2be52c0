// Waits, time limits, timers, signals, file locks and channels of every kind, each used correctly by two threads. The
// argument names one. Without an argument, prints their names.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int flag, count;
static sem_t sem;
static int fd[2], efd;
static struct timespec in_ms(int clock, long ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000;
  while (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, t.tv_sec++;
  return t;
}
static void both(void* (*f)(void*), void* (*g)(void*)) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
static void* post(void* p) {
  sem_post(&sem);
  return p;
}
static void* semwait(void* p) {
  struct timespec t = in_ms(CLOCK_REALTIME, 20);
  int r;
  do r = sem_timedwait(&sem, &t);
  while (r && errno == EINTR);
  if (r) {
    assert(errno == ETIMEDOUT);
    sem_wait(&sem);
  }
  return p;
}
static void semtimed(void) {
  sem_init(&sem, 0, 0);
  both(post, semwait);
  int v;
  sem_getvalue(&sem, &v);
  assert(v == 0);
}
static void* setflag(void* p) {
  pthread_mutex_lock(&m);
  flag = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return p;
}
static void* condwait(void* p) {
  pthread_mutex_lock(&m);
  struct timespec t = in_ms(CLOCK_REALTIME, 20);
  while (!flag)
    if (pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT) {
      struct timespec n;
      clock_gettime(CLOCK_REALTIME, &n);
      assert(n.tv_sec > t.tv_sec || (n.tv_sec == t.tv_sec && n.tv_nsec >= t.tv_nsec));
      t = in_ms(CLOCK_REALTIME, 20);
    }
  pthread_mutex_unlock(&m);
  return p;
}
static void condtimed(void) {
  both(setflag, condwait);
  assert(flag);
}
static void* writer(void* p) {
  for (int i = 0; i < 3; i++) assert(write(fd[1], "abc", 3) == 3);
  close(fd[1]);
  return p;
}
static void* poller(void* p) {
  int n = 0;
  for (;;) {
    struct pollfd q = {fd[0], POLLIN, 0};
    int r = poll(&q, 1, 5);
    assert(r >= 0);
    if (!r) continue;
    char b[2];
    long k = read(fd[0], b, 2);
    assert(k >= 0);
    if (!k) break;
    for (long i = 0; i < k; i++, n++) assert(b[i] == "abc"[n % 3]);
  }
  assert(n == 9);
  return p;
}
static void pollpipe(void) {
  assert(!pipe(fd));
  both(writer, poller);
}
static void* epoller(void* p) {
  int e = epoll_create1(0), n = 0;
  struct epoll_event v = {.events = EPOLLIN};
  assert(!epoll_ctl(e, EPOLL_CTL_ADD, fd[0], &v));
  for (;;) {
    int r = epoll_wait(e, &v, 1, 3);
    assert(r >= 0);
    if (!r) continue;
    char b[4];
    long k = read(fd[0], b, 4);
    if (!k) break;
    n += k;
  }
  assert(n == 9);
  close(e);
  return p;
}
static void epollpipe(void) {
  assert(!pipe(fd));
  both(writer, epoller);
}
static void* selecter(void* p) {
  int n = 0;
  for (;;) {
    fd_set s;
    FD_ZERO(&s);
    FD_SET(fd[0], &s);
    struct timespec t = {0, 2000000};
    int r = pselect(fd[0] + 1, &s, 0, 0, &t, 0);
    assert(r >= 0);
    if (!r) continue;
    assert(FD_ISSET(fd[0], &s));
    char b[4];
    long k = read(fd[0], b, 4);
    if (!k) break;
    n += k;
  }
  assert(n == 9);
  return p;
}
static void selectpipe(void) {
  assert(!pipe(fd));
  both(writer, selecter);
}
static void* nbwriter(void* p) {
  char b[30000];
  memset(b, 'x', sizeof b);
  long n = 0;
  while (n < 200000) {
    long want = 200000 - n < (long)sizeof b ? 200000 - n : (long)sizeof b;
    long r = write(fd[1], b, want);
    if (r < 0) {
      assert(errno == EAGAIN);
      struct pollfd q = {fd[1], POLLOUT, 0};
      assert(poll(&q, 1, -1) == 1);
    } else
      n += r;
  }
  close(fd[1]);
  return p;
}
static void* nbreader(void* p) {
  static char b[7777];
  long n = 0;
  for (;;) {
    long r = read(fd[0], b, sizeof b);
    if (r < 0) {
      assert(errno == EAGAIN);
      sched_yield();
      struct pollfd q = {fd[0], POLLIN, 0};
      poll(&q, 1, -1);
      continue;
    }
    if (!r) break;
    n += r;
  }
  assert(n == 200000);
  return p;
}
static void nonblock(void) {
  assert(!pipe2(fd, O_NONBLOCK));
  both(nbwriter, nbreader);
}
static void* add(void* p) {
  for (int i = 0; i < 3; i++) {
    uint64_t v = 2;
    assert(write(efd, &v, 8) == 8);
  }
  return p;
}
static void* take(void* p) {
  uint64_t n = 0, v;
  while (n < 6) {
    assert(read(efd, &v, 8) == 8);
    n += v;
  }
  assert(n == 6);
  return p;
}
static void evfd(void) {
  efd = eventfd(0, 0);
  both(add, take);
  close(efd);
}
static void* tick(void* p) {
  int t = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec s = {{0, 2000000}, {0, 2000000}};
  assert(!timerfd_settime(t, 0, &s, 0));
  uint64_t n = 0, v;
  while (n < 3) {
    assert(read(t, &v, 8) == 8);
    assert(v >= 1);
    n += v;
  }
  struct itimerspec g;
  assert(!timerfd_gettime(t, &g) && g.it_interval.tv_nsec == 2000000);
  close(t);
  return p;
}
static void* tickpoll(void* p) {
  int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct timespec a = in_ms(CLOCK_MONOTONIC, 3);
  struct itimerspec s = {{0, 0}, a};
  assert(!timerfd_settime(t, TFD_TIMER_ABSTIME, &s, 0));
  uint64_t v;
  struct pollfd q = {t, POLLIN, 0};
  int r;
  do r = poll(&q, 1, 1);
  while (r == 0);
  assert(r == 1 && read(t, &v, 8) == 8 && v == 1);
  assert(read(t, &v, 8) == -1 && errno == EAGAIN);
  close(t);
  return p;
}
static void tfd(void) { both(tick, tickpoll); }
static sigset_t usr;
static pthread_t target;
static void* kills(void* p) {
  kill(getpid(), SIGUSR1);
  return p;
}
static void* sfdread(void* p) {
  int s = signalfd(-1, &usr, 0);
  struct signalfd_siginfo i;
  assert(read(s, &i, sizeof i) == sizeof i);
  assert(i.ssi_signo == SIGUSR1 && i.ssi_pid == (unsigned)getpid());
  close(s);
  return p;
}
static void sfd(void) { both(kills, sfdread); }
static void* sigw(void* p) {
  int n;
  assert(!sigwait(&usr, &n) && n == SIGUSR1);
  return p;
}
static void sigwaits(void) { both(kills, sigw); }
static volatile sig_atomic_t rang;
static void onalarm(int s) {
  (void)s;
  rang++;
}
static void alarms(void) {
  signal(SIGALRM, onalarm);
  struct itimerval v = {{0, 0}, {0, 3000}};
  setitimer(ITIMER_REAL, &v, 0);
  while (!rang) pause();
  alarm(1);
  sigset_t none;
  sigemptyset(&none);
  sigset_t b;
  sigemptyset(&b);
  sigaddset(&b, SIGALRM);
  sigprocmask(SIG_BLOCK, &b, 0);
  alarm(0);
  rang = 0;
  ualarm(2000, 0);
  while (!rang) sigsuspend(&none);
  assert(rang == 1);
}
static void* inowrite(void* p) {
  int f = open("watched/file", O_CREAT | O_WRONLY | O_TRUNC, 0600);
  write(f, "x", 1);
  close(f);
  return p;
}
static void* inoread(void* p) {
  int seen = 0;
  while (!seen) {
    char b[4096] __attribute__((aligned(8)));
    long n = read(efd, b, sizeof b);
    assert(n > 0);
    for (char* q = b; q < b + n;) {
      struct inotify_event* e = (void*)q;
      if (e->mask & IN_CLOSE_WRITE) seen = 1;
      q += sizeof *e + e->len;
    }
  }
  return p;
}
static void ino(void) {
  mkdir("watched", 0700);
  efd = inotify_init();
  assert(inotify_add_watch(efd, "watched", IN_CLOSE_WRITE) >= 0);
  both(inowrite, inoread);
  close(efd);
}
static void* rcv(void* p) {
  char b[8];
  long n, got = 0;
  for (;;) {
    n = recv(fd[0], b, sizeof b, 0);
    if (n < 0) {
      assert(errno == EAGAIN);
      continue;
    }
    if (!n) break;
    got += n;
  }
  assert(got == 9);
  return p;
}
static void* snd(void* p) {
  for (int i = 0; i < 3; i++) assert(send(fd[1], "abc", 3, 0) == 3);
  assert(!shutdown(fd[1], SHUT_WR));
  char b;
  assert(recv(fd[1], &b, 1, 0) == 1 && b == 'k');
  return p;
}
static void* rcvack(void* p) {
  rcv(0);
  assert(send(fd[0], "k", 1, 0) == 1);
  return p;
}
static void rcvtimeo(void) {
  assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
  struct timeval t = {0, 3000};
  assert(!setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
  struct timeval g;
  socklen_t l = sizeof g;
  assert(!getsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &g, &l));
  both(snd, rcvack);
}
static void* dg_s(void* p) {
  for (int i = 0; i < 4; i++) {
    char b[10];
    memset(b, 'a' + i, sizeof b);
    assert(send(fd[1], b, 1 + i, 0) == 1 + i);
  }
  return p;
}
static void* dg_r(void* p) {
  for (int i = 0; i < 4; i++) {
    char b[3];
    struct iovec v = {b, 3};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
    long n = recvmsg(fd[0], &h, 0);
    assert(n == (i < 2 ? 1 + i : 3) && b[0] == 'a' + i);
    assert(!!(h.msg_flags & MSG_TRUNC) == (i == 3));
  }
  return p;
}
static void dgram(void) {
  assert(!socketpair(AF_UNIX, SOCK_DGRAM, 0, fd));
  both(dg_s, dg_r);
}
static void seqpacket(void) {
  assert(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd));
  both(dg_s, dg_r);
}
static void* sleepy(void* p) {
  struct timespec a = in_ms(CLOCK_MONOTONIC, 0);
  for (int i = 0; i < 3; i++) {
    struct timespec t = {0, 1000000};
    nanosleep(&t, 0);
  }
  struct timespec b = in_ms(CLOCK_MONOTONIC, 0);
  assert((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 3000000);
  usleep(500);
  struct timespec u = in_ms(CLOCK_MONOTONIC, 2);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &u, 0);
  return p;
}
static void sleeps(void) { both(sleepy, sleepy); }
static void* locker(void* p) {
  int f = open("lockfile", O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < 3; i++) {
    assert(!flock(f, LOCK_EX));
    count++;
    int k = count;
    sched_yield();
    assert(k == count);
    assert(!flock(f, LOCK_UN));
  }
  close(f);
  return p;
}
static void flocks(void) { both(locker, locker); }
static void* ofd(void* p) {
  int f = open("lockfile", O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < 3; i++) {
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert(!fcntl(f, F_OFD_SETLKW, &l));
    count++;
    int k = count;
    sched_yield();
    assert(k == count);
    l.l_type = F_UNLCK;
    assert(!fcntl(f, F_OFD_SETLK, &l));
  }
  close(f);
  return p;
}
static void ofdlocks(void) { both(ofd, ofd); }
static void* spl(void* p) {
  int q[2];
  assert(!pipe(q));
  long n = 0;
  for (;;) {
    long k = splice(fd[0], 0, q[1], 0, 4, 0);
    assert(k >= 0);
    if (!k) break;
    char b[4];
    assert(read(q[0], b, 4) == k);
    n += k;
  }
  assert(n == 9);
  return p;
}
static void splices(void) {
  assert(!pipe(fd));
  both(writer, spl);
}
static void* teer(void* p) {
  int q[2];
  assert(!pipe(q));
  long n = 0;
  for (;;) {
    long k = tee(fd[0], q[1], 4, 0);
    assert(k >= 0);
    if (!k) break;
    char b[4], d[4];
    assert(read(q[0], b, 4) == k && read(fd[0], d, k) == k && !memcmp(b, d, k));
    n += k;
  }
  assert(n == 9);
  return p;
}
static void tees(void) {
  assert(!pipe(fd));
  both(writer, teer);
}
static void* sendf(void* p) {
  int f = open("A.txt", O_RDONLY);
  off_t o = 0;
  assert(sendfile(fd[1], f, &o, 10) == 10 && o == 10);
  close(f);
  close(fd[1]);
  return p;
}
static void* sendr(void* p) {
  char b[20];
  long n = 0, k;
  while ((k = read(fd[0], b, 3)) > 0) {
    for (int i = 0; i < k; i++) assert(b[i] == 'A');
    n += k;
  }
  assert(n == 10);
  return p;
}
static void sendfiles(void) {
  assert(!pipe(fd));
  both(sendf, sendr);
}
static void* fifow(void* p) {
  int f = open("fifo", O_WRONLY);
  assert(f >= 0 && write(f, "hello", 5) == 5);
  close(f);
  return p;
}
static void* fifor(void* p) {
  int f = open("fifo", O_RDONLY);
  char b[8];
  long n = 0, k;
  while ((k = read(f, b + n, 2)) > 0) n += k;
  assert(n == 5 && !memcmp(b, "hello", 5));
  close(f);
  return p;
}
static void fifos(void) {
  mkfifo("fifo", 0600);
  both(fifow, fifor);
}
static mqd_t q;
static void* mqs(void* p) {
  for (int i = 0; i < 4; i++) {
    char b = 'a' + i;
    assert(!mq_send(q, &b, 1, 0));
  }
  return p;
}
static void* mqr(void* p) {
  for (int i = 0; i < 4; i++) {
    char b[64];
    assert(mq_receive(q, b, 64, 0) == 1 && b[0] == 'a' + i);
  }
  return p;
}
static void mqueues(void) {
  struct mq_attr a = {0, 2, 64, 0, {0}};
  mq_unlink("/rwtest");
  q = mq_open("/rwtest", O_CREAT | O_RDWR, 0600, &a);
  if (q < 0) {
    perror("mq");
    return;
  }
  both(mqs, mqr);
  mq_close(q);
  mq_unlink("/rwtest");
}
static int* word;
static void* fwait(void* p) {
  while (!__atomic_load_n(word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, word, FUTEX_WAIT, 0, 0, 0, 0);
  return p;
}
static void* fwake(void* p) {
  __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
  return p;
}
static void shmfutex(void) {
  int f = memfd_create("x", 0);
  assert(!ftruncate(f, 4096));
  word = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
  assert(word != MAP_FAILED);
  both(fwait, fwake);
}
static void shmopen(void) {
  int f = shm_open("/rwshm", O_CREAT | O_RDWR, 0600);
  assert(f >= 0 && !ftruncate(f, 4096));
  word = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
  *word = 0;
  both(fwait, fwake);
  shm_unlink("/rwshm");
}
static void* posixtimer(void* p) { return p; }
static void ptimer(void) {
  signal(SIGUSR2, onalarm);
  struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
  timer_t t;
  assert(!timer_create(CLOCK_MONOTONIC, &e, &t));
  struct itimerspec s = {{0, 1000000}, {0, 1000000}};
  assert(!timer_settime(t, 0, &s, 0));
  while (rang < 2) {
    struct timespec n = {0, 5000000};
    nanosleep(&n, 0);
  }
  timer_delete(t);
  both(posixtimer, posixtimer);
}
static void* tkill1(void* p) {
  while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) sched_yield();
  pthread_kill(target, SIGUSR2);
  return p;
}
static void* tsleep(void* p) {
  target = pthread_self();
  __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
  while (!rang) usleep(1000);
  return p;
}
static void tkills(void) {
  signal(SIGUSR2, onalarm);
  both(tkill1, tsleep);
}
static void* mtl(void* p) {
  for (int i = 0; i < 3; i++) {
    struct timespec t = in_ms(CLOCK_REALTIME, 2);
    int r = pthread_mutex_timedlock(&m, &t);
    if (r) {
      assert(r == ETIMEDOUT);
      continue;
    }
    count++;
    usleep(100);
    pthread_mutex_unlock(&m);
  }
  return p;
}
static void mtimed(void) {
  both(mtl, mtl);
  assert(count <= 6);
}
static void forks(void) {
  pid_t k = fork();
  if (!k) _exit(7);
  int s;
  assert(waitpid(k, &s, 0) == k && WEXITSTATUS(s) == 7);
  both(setflag, condwait);
}
static void systems(void) {
  assert(system("true") == 0);
  both(setflag, condwait);
}
static void popens(void) {
  FILE* f = popen("echo hi", "r");
  char b[8];
  assert(fgets(b, 8, f) && !strcmp(b, "hi\n"));
  pclose(f);
  both(setflag, condwait);
}
static void* rdstdin(void* p) {
  extern int pos;
  char b[5];
  for (;;) {
    pthread_mutex_lock(&m);
    long n = read(0, b, 1 + pos % 5);
    for (long i = 0; i < n; i++, pos++) assert(b[i] == "0123456789"[pos % 10]);
    pthread_mutex_unlock(&m);
    if (n <= 0) break;
  }
  return p;
}
int pos;
static void stdins(void) { both(rdstdin, rdstdin); }
static void* stdio(void* p) {
  FILE* f = fopen("B.txt", "r");
  char b[100];
  long n = 0;
  size_t k;
  while ((k = fread(b, 1, 100, f)) > 0) {
    for (size_t i = 0; i < k; i++) assert(b[i] == 'B');
    n += k;
  }
  assert(n == 5000);
  rewind(f);
  assert(fgetc(f) == 'B');
  fclose(f);
  return p;
}
static void* stdioA(void* p) {
  FILE* f = fopen("A.txt", "r");
  char b[100];
  assert(fgets(b, 100, f) && !strcmp(b, "AAAAAAAAAA"));
  fclose(f);
  return p;
}
static void stdios(void) { both(stdio, stdioA); }
static void* mapf(void* p) {
  extern int who;
  int mine = __atomic_fetch_add(&who, 1, __ATOMIC_SEQ_CST);
  const char* n = mine ? "A.txt" : "B.txt";
  int f = open(n, O_RDONLY);
  struct stat s;
  assert(!fstat(f, &s) && s.st_size == (mine ? 10 : 5000));
  char* x = mmap(0, s.st_size, PROT_READ, MAP_PRIVATE, f, 0);
  assert(x != MAP_FAILED && x[0] == (mine ? 'A' : 'B') && x[s.st_size - 1] == x[0]);
  munmap(x, s.st_size);
  close(f);
  return p;
}
int who;
static void maps(void) { both(mapf, mapf); }
static void* logw(void* p) {
  FILE* f = fopen("log.txt", "a");
  for (int i = 0; i < 3; i++) fprintf(f, "line\n");
  fclose(f);
  return p;
}
static void logs(void) {
  unlink("log.txt");
  both(logw, logw);
  FILE* f = fopen("log.txt", "r");
  char b[20];
  int n = 0;
  while (fgets(b, 20, f)) {
    assert(!strcmp(b, "line\n"));
    n++;
  }
  assert(n == 6);
  fclose(f);
}
static void* tmpf(void* p) {
  char n[] = "tmpXXXXXX";
  int f = mkstemp(n);
  assert(f >= 0 && write(f, n, sizeof n) == sizeof n);
  char r[12];
  snprintf(r, 12, "%s.r", n + 3);
  assert(!rename(n, r));
  int g = open(r, O_RDONLY);
  char b[20];
  assert(g >= 0 && read(g, b, 20) == sizeof n && !strcmp(b, n));
  assert(!unlink(r));
  close(f);
  close(g);
  return p;
}
static void tmps(void) { both(tmpf, tmpf); }
#define M(x) \
  { #x, x }
static struct {
  const char* n;
  void (*f)(void);
} modes[] = {M(semtimed), M(condtimed), M(pollpipe),  M(epollpipe), M(selectpipe), M(nonblock),
             M(evfd),     M(tfd),       M(sfd),       M(sigwaits),  M(alarms),     M(ino),
             M(rcvtimeo), M(dgram),     M(seqpacket), M(sleeps),    M(flocks),     M(ofdlocks),
             M(splices),  M(tees),      M(sendfiles), M(fifos),     M(mqueues),    M(shmfutex),
             M(shmopen),  M(ptimer),    M(tkills),    M(mtimed),    M(forks),      M(systems),
             M(popens),   M(stdins),    M(stdios),    M(maps),      M(logs),       M(tmps)};
int main(int n, char** a) {
  sigemptyset(&usr);
  sigaddset(&usr, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr, 0);
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
    if (n < 2)
      puts(modes[i].n);
    else if (!strcmp(a[1], modes[i].n)) {
      modes[i].f();
      puts("ok");
      return 0;
    }
  return n > 1;
}
