/* Calls that are restarted after a handler with SA_RESTART: opening a FIFO, splice, tee, vmsplice. And msgsnd, which is
 * never restarted. */
#define _GNU_SOURCE
#include <sys/msg.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "check.h"

enum { kPipeBytes = 65536 };

static char block[kPipeBytes];
static char fifo[64];
static int from[2], to[2], other;
static volatile int ticks;
static void (*volatile end_wait)(void);

static void fill_from(void) { CHECK(write(from[1], "x", 1) == 1); }
static void drain_to(void) { CHECK(read(to[0], block, kPipeBytes) > 0); }
static void open_other(void) { CHECK((other = open(fifo, O_RDWR | O_NONBLOCK)) >= 0); }
static void do_nothing(void) {}

static void on_tick(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  (void)number, (void)info, (void)context;
  if (++ticks == 2) end_wait();
  errno = saved;
}

static void set_timer(int microseconds) {
  const struct itimerval every = {{0, microseconds}, {0, microseconds}};
  CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
}

/* Until the second tick. */
static void wait_until(void (*end)(void)) {
  ticks = 0;
  end_wait = end;
  set_timer(20000);
}

static void fill_pipe(int fd) {
  CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  while (write(fd, block, kPipeBytes) > 0) continue;
  CHECK(fcntl(fd, F_SETFL, 0) == 0);
}

static void check_pipes(void) {
  char name[] = "signal_restarts_XXXXXX";
  const int file = mkstemp(name);
  int copy[2];
  struct iovec piece = {block, 10};
  CHECK(file >= 0 && unlink(name) == 0 && pipe(from) == 0 && pipe(to) == 0 && pipe(copy) == 0);
  wait_until(fill_from);
  CHECK(splice(from[0], NULL, file, NULL, 10, 0) == 1);
  wait_until(fill_from);
  CHECK(tee(from[0], copy[1], 10, 0) == 1);
  fill_pipe(to[1]);
  wait_until(drain_to);
  CHECK(vmsplice(to[1], &piece, 1, 0) == 10);
  set_timer(0);
}

static void check_fifo(void) {
  snprintf(fifo, sizeof fifo, "signal_restarts.%d", getpid());
  CHECK(mkfifo(fifo, 0600) == 0);
  wait_until(open_other);
  CHECK(open(fifo, O_RDONLY) >= 0);
  set_timer(0);
  CHECK(close(other) == 0 && unlink(fifo) == 0);
}

static void check_queue(void) {
  static struct {
    long type;
    char text[1000];
  } message = {1, ""};
  const int queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
  CHECK(queue >= 0);
  while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) continue;
  wait_until(do_nothing);
  FAILS(msgsnd(queue, &message, sizeof message.text, 0), EINTR);
  set_timer(0);
  CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
}

int main(void) {
  on_signal(SIGALRM, on_tick, SA_RESTART);
  check_pipes();
  check_fifo();
  check_queue();
  puts("made again");
  return 0;
}
