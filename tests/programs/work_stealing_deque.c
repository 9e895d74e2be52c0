/* Work-stealing deque whose owner reads a stale head.
 *
 * Bug: pop() reads the head before it lowers the tail; the protocol needs the opposite order.
 * Shown by: a thief takes the last item between the owner's two steps; the owner takes it too.
 * Idea: the THE protocol of Cilk; work-stealing queues are the classic subject of CHESS-like tools.
 * Expected: message and exit status 1 (an item taken twice).
 * Arguments: items (2).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoom = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int head, tail;
static int tasks[kRoom];
static atomic_int taken[kRoom];
static int items = 2;

static void push(int task) {
  tasks[tail] = task;
  atomic_fetch_add(&tail, 1);
}

static int pop(void) {
  int h = atomic_load(&head);
  int t = atomic_fetch_sub(&tail, 1) - 1;
  if (h <= t) return tasks[t];
  /* Possibly empty: decide under the thieves' lock. */
  pthread_mutex_lock(&lock);
  int task = -1;
  if (atomic_load(&head) <= t)
    task = tasks[t];
  else
    atomic_store(&tail, t + 1);
  pthread_mutex_unlock(&lock);
  return task;
}

static int steal(void) {
  int task = -1;
  pthread_mutex_lock(&lock);
  int h = atomic_fetch_add(&head, 1);
  if (h + 1 <= atomic_load(&tail))
    task = tasks[h];
  else
    atomic_store(&head, h);
  pthread_mutex_unlock(&lock);
  return task;
}

static void* thief(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    int task = steal();
    if (task >= 0) atomic_fetch_add(&taken[task], 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) items = atoi(argv[1]);
  if (items < 1 || items > kRoom) return 2;
  for (int i = 0; i < items; i++) push(i);
  pthread_t t;
  pthread_create(&t, NULL, thief, NULL);
  for (int task = pop(); task >= 0; task = pop()) atomic_fetch_add(&taken[task], 1);
  pthread_join(t, NULL);
  for (int i = 0; i < items; i++) {
    if (taken[i] != 1) {
      fprintf(stderr, "task %d was taken %d times\n", i, taken[i]);
      return 1;
    }
  }
  printf("each of %d tasks was taken once\n", items);
  return 0;
}
