/* epoll over two eventfds, a timerfd and a pipe, fed by threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int events[2], ends[2];

static void* feeder(void* arg) {
  uint64_t amount = (uint64_t)(long)arg + 1;
  for (int i = 0; i < 3; i++)
    if (write(events[(long)arg], &amount, sizeof amount) != sizeof amount) return arg;
  if (write(ends[1], "p", 1) != 1) return arg;
  return NULL;
}

int main(void) {
  int poller = epoll_create1(EPOLL_CLOEXEC);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec once = {{0, 0}, {0, 3000000}};
  pthread_t ids[2];
  uint64_t sums[2] = {0, 0}, value;
  int pipe_bytes = 0, expired = 0;
  if (pipe(ends) != 0) return 1;
  events[0] = eventfd(0, 0);
  events[1] = eventfd(0, EFD_NONBLOCK);
  int watched[] = {events[0], events[1], ends[0], timer};
  for (int i = 0; i < 4; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    epoll_ctl(poller, EPOLL_CTL_ADD, watched[i], &event);
  }
  timerfd_settime(timer, 0, &once, NULL);
  for (long i = 0; i < 2; i++) pthread_create(&ids[i], NULL, feeder, (void*)i);
  while (sums[0] < 3 || sums[1] < 6 || pipe_bytes < 2 || !expired) {
    struct epoll_event ready[4];
    int count = epoll_wait(poller, ready, 4, 1000);
    for (int i = 0; i < count; i++) {
      unsigned which = ready[i].data.u32;
      char byte;
      if (which == 2) {
        pipe_bytes += (int)read(ends[0], &byte, 1);
        printf("pipe\n");
      } else if (read(watched[which], &value, sizeof value) == sizeof value) {
        printf("source %u value %lu\n", which, (unsigned long)value);
        if (which == 3)
          expired = 1;
        else
          sums[which] += value;
      }
    }
  }
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  printf("nothing left: %d\n", epoll_wait(poller, &(struct epoll_event){0}, 1, 0));
  return 0;
}
