/* POSIX message queues: priorities, limits, notification, and waiting for room and for messages. */
#define _GNU_SOURCE
#include <mqueue.h>
#include <time.h>
#include "check.h"

enum { ROOM = 4, BYTES = 32 };

static volatile sig_atomic_t notified;
static void on_message(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  CHECK(info->si_code == SI_MESGQ && info->si_value.sival_int == 9);
  notified++;
}

static void notifies(mqd_t queue) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 9};
  on_signal(SIGUSR1, on_message, 0);
  CHECK(mq_notify(queue, &event) == 0);
  FAILS(mq_notify(queue, &event), EBUSY);
  CHECK(mq_send(queue, "low", 4, 1) == 0 && notified == 1);
}

static void orders(mqd_t queue) {
  char bytes[BYTES];
  unsigned priority;
  struct timespec soon;
  CHECK(mq_send(queue, "high", 5, 9) == 0);
  FAILS(mq_receive(queue, bytes, 3, &priority), EMSGSIZE);
  CHECK(mq_receive(queue, bytes, BYTES, &priority) == 5 && priority == 9);
  CHECK(mq_receive(queue, bytes, BYTES, &priority) == 4 && priority == 1);
  CHECK(clock_gettime(CLOCK_REALTIME, &soon) == 0);
  FAILS(mq_timedreceive(queue, bytes, BYTES, &priority, &soon), ETIMEDOUT);
}

static void waits(mqd_t queue) {
  char bytes[BYTES];
  pid_t child = fork();
  for (int i = 0; child == 0 && i < 5 * ROOM; i++) {
    snprintf(bytes, sizeof bytes, "%d", i);
    CHECK(mq_send(queue, bytes, BYTES, 0) == 0);
  }
  if (child == 0) _exit(0);
  for (int i = 0; i < 5 * ROOM; i++) CHECK(mq_receive(queue, bytes, BYTES, NULL) == BYTES && atoi(bytes) == i);
  expect_success(child);
}

int main(void) {
  char name[64], bytes[BYTES];
  struct mq_attr attributes = {.mq_maxmsg = ROOM, .mq_msgsize = BYTES}, at_once = {.mq_flags = O_NONBLOCK}, now;
  alarm(20);
  snprintf(name, sizeof name, "/reweave-%d", getpid());
  mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  if (queue == -1) {
    printf("no queues: %s\n", strerror(errno));
    return 0;
  }
  notifies(queue);
  orders(queue);
  waits(queue);
  CHECK(mq_getattr(queue, &now) == 0 && now.mq_maxmsg == ROOM && now.mq_curmsgs == 0);
  CHECK(mq_setattr(queue, &at_once, &now) == 0);
  FAILS(mq_receive(queue, bytes, BYTES, NULL), EAGAIN);
  CHECK(mq_close(queue) == 0 && mq_unlink(name) == 0);
  puts("queued");
  return 0;
}
