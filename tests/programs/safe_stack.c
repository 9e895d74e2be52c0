/* Lock-free stack over an array of indexes, which is wrong in a way that needs many preemptions to show.
 *
 * Bug: pop() marks the top's successor as taken before it moves the head; a slot that was popped and pushed again in
 * the meantime makes the head jump to a slot that a thread owns. Shown by: three threads, each of them interrupted
 * inside of pop() and push(), most of them several times. The shortest failing run has 42 atomic steps; random
 * schedules practically never show it. Idea: after the published description of D. Vyukov's SafeStack puzzle, used as a
 * hard subject for search tools. Expected: assertion that a popped slot has one owner (SIGABRT). Arguments: threads
 * (3), rounds per thread (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSlots = 3, kTaken = -1, kAttempts = 8 };

static atomic_int head, count, next[kSlots];
static atomic_int owners[kSlots];
static int rounds = 2;

static int pop(void) {
  for (int attempt = 0; attempt < kAttempts && atomic_load(&count) > 1; attempt++) {
    int top = atomic_load(&head);
    int successor = atomic_exchange(&next[top], kTaken);
    if (successor < 0) continue;
    int expected = top;
    if (atomic_compare_exchange_strong(&head, &expected, successor)) {
      atomic_fetch_sub(&count, 1);
      return top;
    }
    atomic_exchange(&next[top], successor);
  }
  return kTaken;
}

static void push(int slot) {
  int top = atomic_load(&head);
  do {
    atomic_store(&next[slot], top);
  } while (!atomic_compare_exchange_strong(&head, &top, slot));
  atomic_fetch_add(&count, 1);
}

static void* user(void* arg) {
  (void)arg;
  for (int i = 0; i < rounds; i++) {
    int slot = pop();
    if (slot == kTaken) continue;
    int others = atomic_fetch_add(&owners[slot], 1);
    assert(others == 0 && "a slot has two owners");
    atomic_fetch_sub(&owners[slot], 1);
    push(slot);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 3;
  if (argc > 2) rounds = atoi(argv[2]);
  for (int i = 0; i < kSlots; i++) next[i] = i + 1 < kSlots ? i + 1 : kTaken;
  count = kSlots;
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, user, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("count %d head %d\n", count, head);
  return 0;
}
