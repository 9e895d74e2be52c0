/* Synchronised list whose addAll() walks the other list call by call.
 *
 * Bug: every call on a list is locked, but add_all() holds nothing between asking the other list for its size and
 * getting the elements.
 * Shown by: the other list is cleared in between. One preemption.
 * Idea: the synchronised ArrayList/Vector wrappers of Java, in the Falcon paper.
 * Expected: index out of bounds, the program aborts (SIGABRT).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoom = 16 };

struct list {
  pthread_mutex_t lock;
  int size;
  int values[kRoom];
};

static struct list left = {PTHREAD_MUTEX_INITIALIZER, 1, {1}};
static struct list right = {PTHREAD_MUTEX_INITIALIZER, 2, {2, 3}};

static int list_size(struct list* l) {
  pthread_mutex_lock(&l->lock);
  int size = l->size;
  pthread_mutex_unlock(&l->lock);
  return size;
}

static int list_get(struct list* l, int at) {
  pthread_mutex_lock(&l->lock);
  if (at >= l->size) {
    fprintf(stderr, "index %d of a list of %d\n", at, l->size);
    abort();
  }
  int value = l->values[at];
  pthread_mutex_unlock(&l->lock);
  return value;
}

static void list_add(struct list* l, int value) {
  pthread_mutex_lock(&l->lock);
  if (l->size < kRoom) l->values[l->size++] = value;
  pthread_mutex_unlock(&l->lock);
}

static void list_clear(struct list* l) {
  pthread_mutex_lock(&l->lock);
  l->size = 0;
  pthread_mutex_unlock(&l->lock);
}

static void* add_all(void* arg) {
  (void)arg;
  int size = list_size(&right);
  for (int i = 0; i < size; i++) list_add(&left, list_get(&right, i));
  return NULL;
}

static void* clear(void* arg) {
  (void)arg;
  list_clear(&right);
  return NULL;
}

int main(void) {
  pthread_t a, c;
  pthread_create(&a, NULL, add_all, NULL);
  pthread_create(&c, NULL, clear, NULL);
  pthread_join(a, NULL);
  pthread_join(c, NULL);
  printf("left %d right %d\n", list_size(&left), list_size(&right));
  return 0;
}
