/* An event loop that learns of requests by an eventfd in an epoll instance, edge-triggered.
 *
 * Bug: the loop takes one request for each wake-up, but the counter adds up wake-ups that come close together.
 * Shown by: both producers queue and signal before the loop checks: one wake-up, one request taken, one left over.
 * Idea: event loops with a queue beside a notification descriptor.
 * Expected: exit status 1, a request was left.
 * Arguments: producers (2).
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queued, stopping, wakeups;

static void wake_up(void) {
  uint64_t one = 1;
  if (write(wakeups, &one, sizeof one) != sizeof one) abort();
}

static void* producer(void* arg) {
  pthread_mutex_lock(&lock);
  queued++;
  pthread_mutex_unlock(&lock);
  wake_up();
  return arg;
}

static void* loop(void* arg) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  int poller = epoll_create1(0);
  epoll_ctl(poller, EPOLL_CTL_ADD, wakeups, &event);
  for (int goes_on = 1; goes_on;) {
    uint64_t count;
    if (epoll_wait(poller, &event, 1, -1) != 1 || read(wakeups, &count, sizeof count) != sizeof count) abort();
    pthread_mutex_lock(&lock);
    goes_on = !stopping;
    if (goes_on) queued--;
    pthread_mutex_unlock(&lock);
  }
  close(poller);
  return arg;
}

int main(int argc, char** argv) {
  int producers = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* ids = calloc((size_t)producers + 1, sizeof *ids);
  wakeups = eventfd(0, EFD_NONBLOCK);
  pthread_create(&ids[producers], NULL, loop, NULL);
  for (int i = 0; i < producers; i++) pthread_create(&ids[i], NULL, producer, NULL);
  for (int i = 0; i < producers; i++) pthread_join(ids[i], NULL);
  pthread_mutex_lock(&lock);
  stopping = 1;
  pthread_mutex_unlock(&lock);
  wake_up();
  pthread_join(ids[producers], NULL);
  free(ids);
  printf("%d requests left\n", queued);
  return queued == 0 ? 0 : 1;
}
