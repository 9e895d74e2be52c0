/* More than a thousand descriptors at once: each one that a call returns can be used. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { kCount = 1500 };

static int make(int i) {
  switch (i % 4) {
    case 0:
      return eventfd(0, EFD_CLOEXEC);
    case 1:
      return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    case 2:
      return dup(0);
    default:
      return epoll_create1(EPOLL_CLOEXEC);
  }
}

int main(void) {
  struct rlimit limit;
  int made = 0, usable = 0, opened[kCount];
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 2 * kCount) {
    puts("the limit of descriptors cannot be raised here");
    return 0;
  }
  limit.rlim_cur = 2 * kCount;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (; made < kCount && (opened[made] = make(made)) >= 0; made++)
    if (fcntl(opened[made], F_GETFD) >= 0) usable++;
  printf("made %d, usable %d\n", made, usable);
  for (int i = 1; i < made; i++)
    if (opened[i] <= opened[i - 1]) printf("%d came after %d\n", opened[i], opened[i - 1]);
  struct itimerspec soon = {.it_value = {.tv_nsec = 1000}};
  for (int i = 1; i < made; i += 4) usable -= timerfd_settime(opened[i], 0, &soon, NULL) != 0;
  for (int i = 0; i < made; i++) usable -= close(opened[i]) == 0;
  printf("left: %d\n", usable);
  return 0;
}
