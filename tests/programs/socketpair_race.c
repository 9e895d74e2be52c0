/* Two threads ask a server over one pair of sockets and each reads one answer.
 *
 * Bug: the answers come in the order of the requests, but nothing prevents the other thread from reading first.
 * Shown by: one thread asks, the other asks after it and reads before it.
 * Idea: clients that share a connection without a lock around request and answer.
 * Expected: assertion in client() (SIGABRT).
 * Arguments: none.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void* client(void* arg) {
  char request = (char)(long)arg, answer = 0;
  if (send(ends[0], &request, 1, 0) != 1 || recv(ends[0], &answer, 1, 0) != 1) return arg;
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
