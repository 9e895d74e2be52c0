/* Correct twin of shutdown_use_after_free: the consumer is joined before its queue is freed.
 * Expected: passes under every schedule. Arguments: items (2).
 */
#include <assert.h>
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

  pthread_join(c, NULL);
  pthread_mutex_destroy(&queue->lock);
  pthread_cond_destroy(&queue->changed);
  free(queue);
  assert(total == items);
  printf("handled %d\n", total);
  return 0;
}
