/* Synchronised hash set whose retainAll() reads the other set without that set's lock.
 *
 * Bug: retain_all() locks only the set that it changes and iterates while the other set may grow or shrink.
 * Shown by: an element is removed from the other set between two steps of the iteration.
 * Idea: the synchronised HashSet wrapper of Java, in the RankChecker and Falcon papers.
 * Expected: message about a concurrent modification and exit status 1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBuckets = 4 };

struct set {
  pthread_mutex_t lock;
  volatile int changes;
  volatile int present[kBuckets];
};

static struct set ours = {PTHREAD_MUTEX_INITIALIZER, 0, {1, 1, 0, 1}};
static struct set theirs = {PTHREAD_MUTEX_INITIALIZER, 0, {1, 0, 1, 1}};

static void set_remove(struct set* s, int value) {
  pthread_mutex_lock(&s->lock);
  if (s->present[value]) {
    s->present[value] = 0;
    s->changes++;
  }
  pthread_mutex_unlock(&s->lock);
}

static void set_retain_all(struct set* s, struct set* other) {
  pthread_mutex_lock(&s->lock);
  int expected = other->changes;
  for (int value = 0; value < kBuckets; value++) {
    int keep = other->present[value];
    if (other->changes != expected) {
      fprintf(stderr, "the set was modified during an iteration\n");
      exit(1);
    }
    if (!keep) s->present[value] = 0;
  }
  pthread_mutex_unlock(&s->lock);
}

static void* retainer(void* arg) {
  (void)arg;
  set_retain_all(&ours, &theirs);
  return NULL;
}

static void* remover(void* arg) {
  (void)arg;
  set_remove(&theirs, 0);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, retainer, NULL);
  pthread_create(&b, NULL, remover, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  for (int i = 0; i < kBuckets; i++) printf("%d%d ", ours.present[i], theirs.present[i]);
  printf("\n");
  return 0;
}
