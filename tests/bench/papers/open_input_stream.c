/* Stream that is opened with the cache's lock held.
 *
 * Bug: open_input_stream() holds the lock of the cache while it waits for the other thread to make the entry ready; if
 * the entry was found stale, that thread needs the same lock.
 * Shown by: the stream is opened before the other thread has replaced the stale entry.
 * Idea: OpenInputStream, a deadlock among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: deadlock.
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER, entry = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static int ready, streams, replaced;

static void* replace_entry(void* arg) {
  (void)arg;
  unrelated_work();
  pthread_mutex_lock(&cache);
  replaced++;
  pthread_mutex_unlock(&cache);
  pthread_mutex_lock(&entry);
  ready = 1;
  pthread_cond_signal(&is_ready);
  pthread_mutex_unlock(&entry);
  return NULL;
}

static void* open_input_stream(void* arg) {
  (void)arg;
  unrelated_work();
  unrelated_work();
  pthread_mutex_lock(&cache);
  pthread_mutex_lock(&entry);
  while (!ready) pthread_cond_wait(&is_ready, &entry); /* bug: the lock of the cache is held */
  streams++;
  pthread_mutex_unlock(&entry);
  pthread_mutex_unlock(&cache);
  return NULL;
}

int main(void) {
  pthread_t r, o;
  pthread_create(&r, NULL, replace_entry, NULL);
  pthread_create(&o, NULL, open_input_stream, NULL);
  pthread_join(r, NULL);
  pthread_join(o, NULL);
  printf("%d stream, %d replaced\n", streams, replaced);
  return 0;
}
