/* Node of a document whose state is read before it is set.
 *
 * Bug: the parser enters a node into the document and then sets the node's state.
 * Shown by: the other thread takes the node in between.
 * Idea: NodeState, an order violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: assertion in the reader (SIGABRT).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

enum { kNew, kLoaded };

struct node {
  int state;
};

static struct node first;
static struct node* document;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(struct node* node) {
  pthread_mutex_lock(&lock);
  document = node;
  pthread_mutex_unlock(&lock);
}

static void* parser(void* arg) {
  (void)arg;
  unrelated_work();
  enter(&first);
  first.state = kLoaded; /* bug: the node is already in the document */
  unrelated_work();
  return NULL;
}

static void* layout(void* arg) {
  (void)arg;
  unrelated_work();
  pthread_mutex_lock(&lock);
  struct node* node = document;
  pthread_mutex_unlock(&lock);
  if (node) assert(node->state == kLoaded && "a node without a state");
  return NULL;
}

int main(void) {
  pthread_t p, l;
  pthread_create(&p, NULL, parser, NULL);
  pthread_create(&l, NULL, layout, NULL);
  pthread_join(p, NULL);
  pthread_join(l, NULL);
  printf("state %d\n", first.state);
  return 0;
}
