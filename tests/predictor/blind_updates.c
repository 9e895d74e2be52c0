/* blind_updates WAY: two threads write `shared` without a lock, the first before it adds to an atomic counter, the
   second after that. Whether the additions can be reordered depends on what the second thread does with the old value
   of the counter. If it adds first, the program says so. blind_updates_check.py has the ways. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "two_threads.h"

static atomic_int counter;
int shared, copy;
static const char* way;

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
  note_order((const int*)&counter);
  if (is("adds")) adds();
  if (is("bit")) sets_a_bit();
  if (is("branches")) branches();
  if (is("keeps")) keeps();
  if (is("later")) looks_later();
  shared = 2;
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  way = argv[1];
  run_both(first, second);
  return 0;
}
