/* While other threads live: a read into a buffer of which a part is not there takes nothing out of a pipe that it does
 * not hand over, and a sleep that nobody interrupts writes no rest. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { kPage = 4096 };

static void* wait_for_end(void* pipe_end) {
  char byte;
  CHECK(read(*(int*)pipe_end, &byte, 1) == 0);
  return NULL;
}

int main(void) {
  int ends[2], data[2];
  pthread_t other;
  char text[32] = "";
  CHECK(pipe(ends) == 0 && pipe2(data, O_NONBLOCK) == 0 && fcntl(data[0], F_SETFL, 0) == 0);
  CHECK(pthread_create(&other, NULL, wait_for_end, &ends[0]) == 0);
  char* edge = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(munmap(edge + kPage, kPage) == 0);
  CHECK(write(data[1], "abcdefghij", 10) == 10);
  ssize_t got = read(data[0], edge + kPage - 4, 10);
  CHECK(got == -1 && errno == EFAULT);
  printf("%zd left\n", read(data[0], text, sizeof text));
  puts(text);
  struct timespec moment = {0, 1000};
  CHECK(nanosleep(&moment, (void*)8) == 0);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, (void*)8) == 0);
  CHECK(close(ends[1]) == 0 && pthread_join(other, NULL) == 0);
  return 0;
}
