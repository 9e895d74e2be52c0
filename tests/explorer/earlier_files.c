// Opens and reads a file, then runs two threads that lose an update now and then. Only if one is lost, reads the file
// again, by a duplicate of the descriptor, up to its end. Exit status: 0: none is lost; 3: one is lost, and the file is
// as it was; 4: the file is another one.
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static volatile int count;

static void* add(void* unused) {
  const int seen = count;
  count = seen + 1;
  return unused;
}

__attribute__((noinline)) static void race(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

int main(int argc, char** argv) {
  char first[64], second[64];
  const int opened = open(argv[argc - 1], O_RDONLY);
  const int file = dup(opened);
  close(opened);
  const ssize_t bytes = read(file, first, sizeof first);
  race();
  if (count == 2) return 0;
  if (read(file, second, sizeof second) != 0) return 4;  // at its end
  if (lseek(file, 0, SEEK_SET) != 0 || read(file, second, sizeof second) != bytes) return 4;
  return memcmp(first, second, (size_t)bytes) == 0 ? 3 : 4;
}
