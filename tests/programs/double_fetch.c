/* Message whose length is fetched twice from shared memory.
 *
 * Bug: the length is validated with the first fetch and used with the second.
 * Shown by: the sender changes the length in between. One preemption.
 * Idea: the double-fetch bugs of kernels, which read user memory twice.
 * Expected: assertion on the copied length (SIGABRT).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { kRoom = 16 };

struct message {
  volatile size_t length;
  char text[64];
};

static struct message message = {4, "four and some more text behind it"};
static char copy[kRoom];

static void* receiver(void* arg) {
  (void)arg;
  if (message.length <= kRoom) {
    size_t length = message.length;
    assert(length <= kRoom && "the length changed after its check");
    memcpy(copy, message.text, length);
  }
  return NULL;
}

static void* sender(void* arg) {
  (void)arg;
  message.length = 32;
  return NULL;
}

int main(void) {
  pthread_t r, s;
  pthread_create(&r, NULL, receiver, NULL);
  pthread_create(&s, NULL, sender, NULL);
  pthread_join(r, NULL);
  pthread_join(s, NULL);
  printf("copied '%.*s'\n", kRoom, copy);
  return 0;
}
