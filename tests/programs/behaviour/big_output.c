/* Writes several megabytes to stdout from two threads. Argument: megabytes (4). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int megabytes = 4;

static void* writer(void* arg) {
  char line[1024];
  memset(line, 'a' + (int)(long)arg, sizeof line);
  for (int i = 0; i < megabytes * 512; i++) {
    int length = snprintf(line, sizeof line, "thread %ld line %d ", (long)arg, i);
    line[length] = '.';
    line[sizeof line - 1] = '\n';
    fwrite(line, 1, sizeof line, stdout);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t ids[2];
  if (argc > 1) megabytes = atoi(argv[1]);
  for (long i = 0; i < 2; i++) pthread_create(&ids[i], NULL, writer, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  return 0;
}
