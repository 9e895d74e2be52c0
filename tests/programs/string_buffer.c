/* String buffer whose append() is not atomic.
 *
 * Bug: append(other) asks the other buffer for its length and then for that many characters. Each call holds the
 * other buffer's lock, but nothing holds it in between.
 * Shown by: between the two calls another thread truncates the other buffer.
 * Idea: the java.lang.StringBuffer bug used by nearly every atomicity paper (ColFinder, Falcon).
 * Expected: assertion in buffer_get_chars (SIGABRT).
 * Arguments: appends (1).
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

static size_t buffer_length(struct buffer* b) {
  pthread_mutex_lock(&b->lock);
  size_t length = b->length;
  pthread_mutex_unlock(&b->lock);
  return length;
}

static void buffer_get_chars(struct buffer* b, size_t count, char* out) {
  pthread_mutex_lock(&b->lock);
  assert(count <= b->length && "index past the end of the buffer");
  memcpy(out, b->chars, count);
  pthread_mutex_unlock(&b->lock);
}

static void buffer_truncate(struct buffer* b) {
  pthread_mutex_lock(&b->lock);
  b->length = 0;
  pthread_mutex_unlock(&b->lock);
}

static void buffer_append(struct buffer* to, struct buffer* from) {
  pthread_mutex_lock(&to->lock);
  size_t count = buffer_length(from);
  if (to->length + count <= sizeof to->chars) {
    buffer_get_chars(from, count, to->chars + to->length);
    to->length += count;
  }
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
  printf("target '%.*s' source length %zu\n", (int)target.length, target.chars, source.length);
  return 0;
}
