/* File scanner whose workers look at the number of queued files without a lock.
 *
 * Bug: a worker sees that a file is queued and takes it in two steps.
 * Shown by: another worker takes the last file in between.
 * Idea: pfscan, whose threads read and write a shared variable, in the ColFinder paper; the code is ours.
 * Expected: null pointer dereference (SIGSEGV). Arguments: workers (2), files (2), bytes of a file (4).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16, kMostFiles = 64 };

struct file {
  char* text;
};

static struct file files[kMostFiles];
static struct file* queue[kMostFiles];
static volatile int queued;
static int bytes = 4;

static void* worker(void* arg) {
  while (queued > 0) {
    int at = --queued; /* bug: another worker may have taken the last file */
    struct file* mine = at >= 0 ? queue[at] : NULL;
    for (int i = 0; i < bytes; i++) *(long*)arg += mine->text[i] == 'x';
  }
  return NULL;
}

int main(int argc, char** argv) {
  int workers = argc > 1 ? atoi(argv[1]) : 2;
  queued = argc > 2 ? atoi(argv[2]) : 2;
  if (argc > 3) bytes = atoi(argv[3]);
  for (int i = 0; i < queued; i++) {
    files[i].text = malloc((size_t)bytes);
    for (int k = 0; k < bytes; k++) files[i].text[k] = k % 3 == 0 ? 'x' : 'y';
    queue[i] = &files[i];
  }
  pthread_t ids[kMostThreads];
  long matches[kMostThreads] = {0}, sum = 0;
  for (int i = 0; i < workers; i++) pthread_create(&ids[i], NULL, worker, &matches[i]);
  for (int i = 0; i < workers; i++) {
    pthread_join(ids[i], NULL);
    sum += matches[i];
  }
  printf("%ld matches\n", sum);
  return 0;
}
