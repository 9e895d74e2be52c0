/* Vector that is made as a copy of another one.
 *
 * Bug: copy_of() asks the other vector for its size and then for its elements, in two critical sections.
 * Shown by: the other vector is cleared in between.
 * Idea: the constructor of java.util.Vector in the Falcon paper; the code is ours.
 * Expected: message and exit status 1 (the copy has fewer elements than its size says).
 */
#include <pthread.h>
#include <stdio.h>

enum { kRoom = 8 };

struct vector {
  pthread_mutex_t lock;
  int count;
  int elements[kRoom];
};

static struct vector source = {PTHREAD_MUTEX_INITIALIZER, 3, {1, 2, 3}};
static struct vector copy = {PTHREAD_MUTEX_INITIALIZER, 0, {0}};
static int copied;

static int size_of(struct vector* v) {
  pthread_mutex_lock(&v->lock);
  int size = v->count;
  pthread_mutex_unlock(&v->lock);
  return size;
}

static int to_array(struct vector* v, int* out) {
  int i;
  pthread_mutex_lock(&v->lock);
  for (i = 0; i < v->count; i++) out[i] = v->elements[i]; /* bug: the count may have changed */
  pthread_mutex_unlock(&v->lock);
  return i;
}

static void* copy_of(void* arg) {
  (void)arg;
  copy.count = size_of(&source);
  copied = to_array(&source, copy.elements);
  return NULL;
}

static void* clear(void* arg) {
  (void)arg;
  pthread_mutex_lock(&source.lock);
  source.count = 0;
  pthread_mutex_unlock(&source.lock);
  return NULL;
}

int main(void) {
  pthread_t maker, clearer;
  pthread_create(&maker, NULL, copy_of, NULL);
  pthread_create(&clearer, NULL, clear, NULL);
  pthread_join(maker, NULL);
  pthread_join(clearer, NULL);
  if (copied != copy.count) {
    fprintf(stderr, "%d elements of %d\n", copied, copy.count);
    return 1;
  }
  printf("%d elements\n", copied);
  return 0;
}
