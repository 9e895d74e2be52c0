/* Correct twin of string_buffer: append() copies length and characters under one hold of the other buffer's lock.
 * Expected: passes under every schedule. Arguments: appends (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
  pthread_mutex_t lock;
  size_t length;
  char chars[256];
};

static struct buffer target = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct buffer source = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 3, .chars = "abc"};
static int appends = 1;

static size_t buffer_copy_out(struct buffer* b, char* out, size_t room) {
  pthread_mutex_lock(&b->lock);
  size_t count = b->length < room ? b->length : room;
  memcpy(out, b->chars, count);
  pthread_mutex_unlock(&b->lock);
  return count;
}

static void buffer_truncate(struct buffer* b) {
  pthread_mutex_lock(&b->lock);
  b->length = 0;
  pthread_mutex_unlock(&b->lock);
}

static void buffer_append(struct buffer* to, struct buffer* from) {
  pthread_mutex_lock(&to->lock);
  to->length += buffer_copy_out(from, to->chars + to->length, sizeof to->chars - to->length);
  pthread_mutex_unlock(&to->lock);
}

static void* appender(void* arg) {
  (void)arg;
  for (int i = 0; i < appends; i++) buffer_append(&target, &source);
  return NULL;
}

static void* truncater(void* arg) {
  (void)arg;
  buffer_truncate(&source);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) appends = atoi(argv[1]);
  pthread_t a, t;
  pthread_create(&a, NULL, appender, NULL);
  pthread_create(&t, NULL, truncater, NULL);
  pthread_join(a, NULL);
  pthread_join(t, NULL);
  assert(target.length % 3 == 0);
  printf("target '%.*s' source length %zu\n", (int)target.length, target.chars, source.length);
  return 0;
}
