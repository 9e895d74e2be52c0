/* equal_values WAY: a thread sets `flag`, then stores `data`, then sets `flag` again. Another thread uses `data` if it
   sees the flag set. It may see the first store of the flag if that stored the same value as the second, and then it
   may come before the data.

   equal_values_check.py records runs in which the reader comes last. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int published;
static int flag;
static long long wide;
static char* pointer;
static int data;
static const char* way;

static int is(const char* name) { return strcmp(way, name) == 0; }

static void set(int value) {
  pthread_mutex_lock(&lock);
  flag = value;
  wide = value * 0x123456789abcdefLL;
  pthread_mutex_unlock(&lock);
}

static void set_pointer(void) {
  pthread_mutex_lock(&lock);
  free(pointer);
  pointer = malloc(24); /* mostly at the same address again */
  pthread_mutex_unlock(&lock);
}

static void* helper(void* unused) {
  set(1);
  return unused;
}

static void* writer(void* unused) {
  pthread_t other;
  if (is("atomic")) atomic_store(&published, 1);
  if (is("locked") || is("wide") || is("differs")) set(is("differs") ? 2 : 1);
  if (is("pointer")) set_pointer();
  if (is("threads")) pthread_create(&other, 0, helper, 0), pthread_join(other, 0);
  data = 7;
  if (is("atomic")) atomic_store(&published, 1);
  if (is("locked") || is("wide") || is("differs") || is("threads")) set(1);
  if (is("pointer")) set_pointer();
  return unused;
}

static int is_set(void) {
  if (is("atomic")) return atomic_load(&published) == 1;
  pthread_mutex_lock(&lock);
  int seen = is("wide") ? wide == 0x123456789abcdefLL : is("pointer") ? pointer != 0 : flag == 1;
  pthread_mutex_unlock(&lock);
  return seen;
}

static void* reader(void* unused) {
  if (is_set()) printf("used %d\n", data);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  if (argc != 2) return 2;
  way = argv[1];
  pthread_create(&threads[0], 0, writer, 0);
  pthread_create(&threads[1], 0, reader, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
