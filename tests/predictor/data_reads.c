/* data_reads WAY: two threads write `shared` without a lock, the first before its locked section, the second after its
   own. In its section, the second thread reads what the first wrote in its section. If the second section comes first,
   the program says so. Whether the sections can be reordered depends on what the second thread does with the value.
   data_reads_check.py has the ways. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "two_threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int shared, counter, copy, table[64], done;
int kept[2]; /* only one thread uses it */
static const char* way;

static int is(const char* name) { return strcmp(way, name) == 0; }

__attribute__((noinline)) static void counts(void) { counter++; }
__attribute__((noinline)) static void copies(void) { copy = counter; }
__attribute__((noinline)) static void keeps(void) { kept[0] = counter; }
__attribute__((noinline)) static void branches(void) {
  if (counter == 5) done = 1;
}
__attribute__((noinline)) static void indexes(void) { table[counter & 63] = 1; }
__attribute__((noinline)) static void prints(void) { fprintf(stderr, "%d\n", counter); }
__attribute__((noinline)) static void branches_on_kept(void) {
  if (kept[0] == 5) done = 1;
}
__attribute__((noinline)) static void branches_on_copy(void) {
  if (copy == 5) done = 1;
}

static void* first(void* unused) {
  shared = 1;
  pthread_mutex_lock(&lock);
  counter += 5;
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* second(void* unused) {
  pthread_mutex_lock(&lock);
  note_order(&counter);
  if (is("counts")) counts();
  if (is("copies")) copies();
  if (is("branches")) branches();
  if (is("indexes")) indexes();
  if (is("prints")) prints();
  if (is("keeps") || is("kept")) keeps();
  if (is("copied")) copies();
  if (is("kept")) branches_on_kept();
  if (is("copied")) branches_on_copy();
  pthread_mutex_unlock(&lock);
  shared = 2;
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  way = argv[1];
  run_both(first, second);
  return 0;
}
