/* select, pselect, poll and ppoll over pipes, with time-outs. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <unistd.h>

static int first[2], second[2];

static void* writer(void* arg) {
  (void)arg;
  if (write(second[1], "s", 1) != 1 || write(first[1], "f", 1) != 1) return (void*)1L;
  return NULL;
}

int main(void) {
  pthread_t t;
  char byte;
  if (pipe(first) != 0 || pipe(second) != 0) return 1;
  struct pollfd polled[2] = {{first[0], POLLIN, 0}, {second[0], POLLIN, 0}};
  printf("poll, nothing: %d\n", poll(polled, 2, 2));
  struct timespec moment = {0, 1000000};
  printf("ppoll, nothing: %d\n", ppoll(polled, 2, &moment, NULL));
  pthread_create(&t, NULL, writer, NULL);
  for (int left = 2; left > 0;) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(first[0], &set);
    FD_SET(second[0], &set);
    int highest = first[0] > second[0] ? first[0] : second[0];
    struct timeval timeout = {5, 0};
    int ready = select(highest + 1, &set, NULL, NULL, &timeout);
    printf("select %d: first %d second %d, time was left: %d\n", ready, FD_ISSET(first[0], &set) != 0,
           FD_ISSET(second[0], &set) != 0, timeout.tv_sec > 0);
    if (FD_ISSET(first[0], &set)) left -= (int)read(first[0], &byte, 1);
    if (FD_ISSET(second[0], &set)) left -= (int)read(second[0], &byte, 1);
  }
  pthread_join(t, NULL);
  close(first[1]);
  printf("poll, hung up: %d %x\n", poll(polled, 1, -1), (unsigned)polled[0].revents);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(second[0], &set);
  printf("pselect, nothing: %d\n", pselect(second[0] + 1, &set, NULL, NULL, &moment, NULL));
  return 0;
}
