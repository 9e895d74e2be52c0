// Two threads compute and make system calls for the given number of seconds, to test going backward in a long
// recording.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kCells = 256, kPasses = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t cells[kCells], marks;
static double end;
static int source;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void __attribute__((noinline)) mark(uint64_t round) { marks = marks * 3 + round; }

static uint64_t __attribute__((noinline)) compute(uint64_t value) {
  for (int pass = 0; pass < kPasses; pass++)
    for (int i = 0; i < kCells; i++) {
      value = (value ^ (value >> 29)) * 0x9e3779b97f4a7c15;
      cells[i] += value;
    }
  return value;
}

static void* work(void* number) {
  uint64_t value = (uint64_t)(uintptr_t)number, read_now = 0;
  for (uint64_t round = 0; round % 64 != 0 || now() < end; round++) {
    if (read(source, &read_now, sizeof read_now) != sizeof read_now) abort();
    pthread_mutex_lock(&lock);
    value = compute(value + read_now);
    pthread_mutex_unlock(&lock);
    if (round % 1000 == 0) mark(round);
  }
  return (void*)(uintptr_t)value;
}

int main(int argc, char** argv) {
  pthread_t other;
  source = open("/dev/urandom", O_RDONLY);
  end = now() + (argc > 1 ? atof(argv[1]) : 1);
  pthread_create(&other, NULL, work, (void*)1);
  work((void*)2);
  pthread_join(other, NULL);
  printf("%llu\n", (unsigned long long)cells[7]);
  return 0;
}
