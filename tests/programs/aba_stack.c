/* Lock-free stack of recycled nodes with the ABA problem.
 *
 * Bug: pop() compares only the index of the top. The same node may have been pushed again with another successor.
 * Shown by: A reads top and its successor; B pops two nodes and pushes the first back; A's compare-and-swap succeeds
 * and makes a node that B owns the top. One preemption, at the right place. Idea: the textbook ABA problem.
 * Expected: message and exit status 1 (a node owned twice).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kNodes = 3, kNone = -1 };

static atomic_int top = kNone;
static atomic_int next[kNodes];
static atomic_int owned[kNodes];

static void push(int node) {
  atomic_store(&owned[node], 0);
  int old = atomic_load(&top);
  do {
    atomic_store(&next[node], old);
  } while (!atomic_compare_exchange_strong(&top, &old, node));
}

static int pop(void) {
  int old = atomic_load(&top);
  while (old != kNone) {
    int successor = atomic_load(&next[old]);
    if (atomic_compare_exchange_strong(&top, &old, successor)) {
      if (atomic_fetch_add(&owned[old], 1) != 0) {
        fprintf(stderr, "node %d has two owners\n", old);
        exit(1);
      }
      return old;
    }
  }
  return kNone;
}

static void* twice(void* arg) {
  (void)arg;
  int a = pop();
  int b = pop();
  if (a != kNone) push(a);
  (void)b; /* kept by this thread */
  return NULL;
}

int main(void) {
  pthread_t t, u;
  for (int i = 0; i < kNodes; i++) push(i);
  pthread_create(&t, NULL, twice, NULL);
  pthread_create(&u, NULL, twice, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  printf("top %d\n", top);
  return 0;
}
