/* Shut-down that frees a queue which its consumer still uses.
 *
 * Bug: the main thread waits until every item was handled, and then frees the queue. The consumer checks
 * the queue once more, to learn that there is no more work.
 * Shown by: the main thread runs right after the last item was reported, before the consumer locks the queue again.
 * Idea: the order violation at shutdown of pbzip2 0.9.4 (HaPSet and ColFinder papers).
 * Expected: memory error: the consumer locks and reads a freed block.
 * Arguments: items (2).
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int waiting;
  int finished;
};

static struct queue* queue;
static sem_t handled;
static int total;

static void* consumer(void* arg) {
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&queue->lock);
    while (queue->waiting == 0 && !queue->finished) pthread_cond_wait(&queue->changed, &queue->lock);
    if (queue->waiting == 0) {
      pthread_mutex_unlock(&queue->lock);
      return NULL;
    }
    queue->waiting--;
    pthread_mutex_unlock(&queue->lock);
    total++;
    sem_post(&handled);
  }
}

int main(int argc, char** argv) {
  int items = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t c;
  sem_init(&handled, 0, 0);
  queue = calloc(1, sizeof *queue);
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->changed, NULL);
  pthread_create(&c, NULL, consumer, NULL);

  pthread_mutex_lock(&queue->lock);
  queue->waiting = items;
  queue->finished = 1;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  for (int i = 0; i < items; i++) sem_wait(&handled);

  pthread_mutex_destroy(&queue->lock);
  free(queue);
  pthread_join(c, NULL);
  printf("handled %d\n", total);
  return 0;
}
