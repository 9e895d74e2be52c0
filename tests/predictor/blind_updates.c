/* blind_updates WAY: two threads write `shared` without a lock, the first before it adds to an atomic counter, the
   second after that. Whether the additions can be reordered depends on what the second thread does with the old value
   of the counter. If it adds first, the program prints that. blind_updates_check.py has the ways. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int counter;
int shared, copy;
static const char* way;

/* The trace does not have these accesses, which the compiler does not instrument. */
static int second_came_first;
__attribute__((noinline)) static void note_order(void) {
  __asm__ volatile("cmpl $0, %1\n sete %b0" : "+m"(second_came_first) : "m"(counter) : "cc");
}
__attribute__((noinline)) static int noted_order(void) {
  int noted;
  __asm__ volatile("movl %1, %0" : "=r"(noted) : "m"(second_came_first));
  return noted;
}

static int is(const char* name) { return strcmp(way, name) == 0; }

__attribute__((noinline)) static void adds(void) { atomic_fetch_add(&counter, 1); }
__attribute__((noinline)) static void sets_a_bit(void) { atomic_fetch_or_explicit(&counter, 8, memory_order_relaxed); }
__attribute__((noinline)) static void branches(void) {
  if (atomic_fetch_add(&counter, 1) == 5) puts("second");
}
__attribute__((noinline)) static void keeps(void) { copy = atomic_fetch_add(&counter, 1); }
__attribute__((noinline)) static void looks_later(void) {
  atomic_fetch_add(&counter, 1);
  if (atomic_load(&counter) == 6) puts("second");
}

static void* first(void* unused) {
  shared = 1;
  atomic_fetch_add(&counter, 5);
  return unused;
}

static void* second(void* unused) {
  note_order();
  if (is("adds")) adds();
  if (is("bit")) sets_a_bit();
  if (is("branches")) branches();
  if (is("keeps")) keeps();
  if (is("later")) looks_later();
  shared = 2;
  return unused;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  if (argc != 2) return 2;
  way = argv[1];
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  if (noted_order()) puts("the second thread came first");
  return 0;
}
