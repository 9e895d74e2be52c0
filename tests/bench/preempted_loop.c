/* A thread counts in memory and is preempted when another is ready. A replay must switch at the same turns. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 5 };
static int ends[2];

static void* read_bytes(void* argument) {
  char byte;
  for (int i = 0; i < ROUNDS; i++)
    if (read(ends[0], &byte, 1) != 1) return argument;
  return NULL;
}

int main(int argc, char** argv) {
  const long turns = argc > 1 ? atol(argv[1]) : 300000000;
  pthread_t reader;
  void* failed;
  if (pipe(ends) != 0 || pthread_create(&reader, NULL, read_bytes, &ends) != 0) return 1;
  for (int round = 0; round < ROUNDS; round++) {
    if (write(ends[1], "x", 1) != 1) return 1;
    for (volatile long i = 0; i < turns / ROUNDS; i++) {
    }
  }
  pthread_join(reader, &failed);
  puts("done");
  return failed != NULL;
}
