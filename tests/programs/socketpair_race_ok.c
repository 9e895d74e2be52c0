/* Correct twin of socketpair_race: a client has the connection to itself until it is answered.
 * Expected: passes under every schedule.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void* client(void* arg) {
  char request = (char)(long)arg, answer = 0;
  pthread_mutex_lock(&lock);
  if (send(ends[0], &request, 1, 0) != 1 || recv(ends[0], &answer, 1, 0) != 1) return arg;
  pthread_mutex_unlock(&lock);
  assert(answer == request && "somebody else's answer");
  return NULL;
}

static void* server(void* arg) {
  char request;
  for (int left = 2; left > 0; left--) {
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(ends[1], &readable);
    if (select(ends[1] + 1, &readable, NULL, NULL, NULL) != 1 || read(ends[1], &request, 1) != 1) return arg;
    if (write(ends[1], &request, 1) != 1) return arg;
  }
  return NULL;
}

int main(void) {
  pthread_t ids[3];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 2;
  pthread_create(&ids[0], NULL, server, NULL);
  pthread_create(&ids[1], NULL, client, (void*)'a');
  pthread_create(&ids[2], NULL, client, (void*)'b');
  for (int i = 0; i < 3; i++) pthread_join(ids[i], NULL);
  printf("both were answered\n");
  return 0;
}
