/* Two threads count in a file that is mapped, as databases and caches do; the second forgets the lock.
 * Expected: a count is lost, the program exits with status 1. The argument, if there is one, is the file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int* count;

static int file_at(const char* path) {
  char own[] = "/tmp/mapped-counter-XXXXXX";
  int fd = path != NULL ? open(path, O_RDWR) : mkstemp(own);
  if (fd < 0 || ftruncate(fd, 4096) != 0) abort();
  if (path == NULL) unlink(own);
  return fd;
}

static void* careful(void* arg) {
  pthread_mutex_lock(&lock);
  (*count)++;
  pthread_mutex_unlock(&lock);
  return arg;
}

static void* careless(void* arg) {
  int before = *count;
  *count = before + 1;
  return arg;
}

int main(int argc, char** argv) {
  int fd = file_at(argc > 1 ? argv[1] : NULL);
  count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (count == MAP_FAILED) abort();
  int start = *count;
  pthread_t first, second;
  pthread_create(&first, NULL, careful, NULL);
  pthread_create(&second, NULL, careless, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  printf("%d counts of 2\n", *count - start);
  return *count - start == 2 ? 0 : 1;
}
