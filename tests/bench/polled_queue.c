/* An unbounded queue with one producer and one consumer, which polls it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static long items;
static struct {
  atomic_long head;
  long apart[8];
  atomic_long tail;
  long* slots;
} queue;

__attribute__((noinline)) static int take(long* value) {
  const long head = atomic_load_explicit(&queue.head, memory_order_relaxed);
  if (head == atomic_load_explicit(&queue.tail, memory_order_acquire)) return 0;
  *value = queue.slots[head];
  atomic_store_explicit(&queue.head, head + 1, memory_order_release);
  return 1;
}

static void* produce(void* argument) {
  for (long i = 0; i < items; i++) {
    if (i % 30000 == 29999) sched_yield();
    queue.slots[i] = i;
    atomic_store_explicit(&queue.tail, i + 1, memory_order_release);
  }
  return argument;
}

int main(int argc, char** argv) {
  items = argc > 1 ? atol(argv[1]) : 1000000;
  queue.slots = calloc((size_t)items, sizeof *queue.slots);
  pthread_t producer;
  if (queue.slots == NULL || pthread_create(&producer, NULL, produce, NULL) != 0) return 1;
  long value, in_order = 1;
  for (long i = 0; i < items;) {
    if (!take(&value)) continue;
    in_order &= value == i++;
  }
  pthread_join(producer, NULL);
  puts(in_order ? "in order" : "out of order");
  return in_order ? 0 : 1;
}
