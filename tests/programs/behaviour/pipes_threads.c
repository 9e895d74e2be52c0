/* Threads that write to one pipe and a thread that reads it; the schedule determines the order of the messages. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kWriters = 3, kMessages = 20 };
static int ends[2];

static void* writer(void* arg) {
  char message[2] = {(char)('a' + (long)arg), 0};
  for (int i = 0; i < kMessages; i++) {
    message[1] = (char)i;
    if (write(ends[1], message, sizeof message) != sizeof message) return arg;
  }
  return NULL;
}

static void* reader(void* arg) {
  char message[2];
  (void)arg;
  while (read(ends[0], message, sizeof message) == sizeof message) printf("%c%d ", message[0], message[1]);
  printf("\n");
  return NULL;
}

int main(void) {
  pthread_t ids[kWriters], r;
  if (pipe(ends) != 0) return 1;
  pthread_create(&r, NULL, reader, NULL);
  for (long i = 0; i < kWriters; i++) pthread_create(&ids[i], NULL, writer, (void*)i);
  for (int i = 0; i < kWriters; i++) pthread_join(ids[i], NULL);
  close(ends[1]);
  pthread_join(r, NULL);
  return 0;
}
