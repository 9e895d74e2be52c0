/* Bounded queue with a producer and a consumer.
 *
 * It has no bug: it measures what an explored run costs.
 * Idea: BlockingQueue in the RankChecker paper; the code is ours.
 * Arguments: items (2000).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoom = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items = 2000, count, head;
static int ring[kRoom];

static void* producer(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&lock);
    while (count == kRoom) pthread_cond_wait(&changed, &lock);
    ring[(head + count++) % kRoom] = i;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* consumer(void* arg) {
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&lock);
    while (count == 0) pthread_cond_wait(&changed, &lock);
    *(long*)arg += ring[head];
    head = (head + 1) % kRoom;
    count--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) items = atoi(argv[1]);
  long sum = 0;
  pthread_t p, c;
  pthread_create(&p, NULL, producer, NULL);
  pthread_create(&c, NULL, consumer, &sum);
  pthread_join(p, NULL);
  pthread_join(c, NULL);
  printf("sum %ld\n", sum);
  return 0;
}
