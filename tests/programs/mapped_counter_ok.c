/* Correct twin of mapped_counter: both take the lock. One file is mapped before main, one twice, one grows.
 * Expected: passes under every schedule.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int *early, *count, *again, *late;
static int file;

static void need(int condition) {
  if (!condition) abort();
}

static volatile int* map(int fd, size_t bytes) {
  void* mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(mapped != MAP_FAILED);
  return mapped;
}

__attribute__((constructor)) static void before_main(void) {
  char path[] = "/tmp/mapped-early-XXXXXX";
  int fd = mkstemp(path);
  need(fd >= 0 && unlink(path) == 0 && write(fd, "\7\0\0", 4) == 4);
  early = map(fd, 4096);
  need(close(fd) == 0 && *early == 7);
}

static void* worker(void* arg) {
  pthread_mutex_lock(&lock);
  (*early)++;
  (*count)++;
  if (*again == 2) need(ftruncate(file, 16384) == 0);
  if (*again == 2) late[2048] = 5;
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  need(*early == 7);
  file = memfd_create("counter", 0);
  need(file >= 0 && ftruncate(file, 4096) == 0);
  count = map(file, 4096);
  again = map(file, 4096);
  late = map(file, 16384);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) need(pthread_create(&threads[i], NULL, worker, NULL) == 0);
  for (int i = 0; i < 2; i++) need(pthread_join(threads[i], NULL) == 0);
  need(*early == 9 && *again == 2 && late[0] == 2 && late[2048] == 5);
  return 0;
}
