/* A socket pair between two threads, a passed file descriptor, and a TCP connection over the loop-back interface. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void* echo(void* arg) {
  int fd = *(int*)arg;
  char buffer[64];
  ssize_t got;
  while ((got = recv(fd, buffer, sizeof buffer, 0)) > 0)
    if (send(fd, buffer, (size_t)got, 0) != got) break;
  return NULL;
}

static void pass_descriptor(int from, int to) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control;
  char byte = 'x';
  int ends[2], passed = -1;
  if (pipe(ends) != 0) return;
  struct iovec data = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
  ssize_t sent = sendmsg(from, &message, 0);
  memset(&control, 0, sizeof control);
  ssize_t got = recvmsg(to, &message, 0);
  header = CMSG_FIRSTHDR(&message);
  if (header) memcpy(&passed, CMSG_DATA(header), sizeof passed);
  ssize_t wrote = write(passed, "!", 1);
  ssize_t readback = read(ends[0], &byte, 1);
  printf("passed descriptor %d: %zd %zd %zd %zd '%c'\n", passed, sent, got, wrote, readback, byte);
}

int main(void) {
  int fds[2], pass[2];
  char buffer[64] = "";
  pthread_t t;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pass) != 0) return 1;
  pthread_create(&t, NULL, echo, &fds[1]);
  ssize_t sent = send(fds[0], "hello", 5, 0), got = recv(fds[0], buffer, sizeof buffer, 0);
  printf("sent %zd got %zd '%s'\n", sent, got, buffer);
  shutdown(fds[0], SHUT_WR);
  pthread_join(t, NULL);
  pass_descriptor(pass[0], pass[1]);

  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 1) != 0) return 1;
  getsockname(listener, (struct sockaddr*)&address, &length);
  if (connect(client, (struct sockaddr*)&address, sizeof address) != 0) return 1;
  int server = accept(listener, NULL, NULL);
  pthread_create(&t, NULL, echo, &server);
  sent = send(client, "over tcp", 8, 0);
  got = recv(client, buffer, 8, MSG_WAITALL);
  printf("port %d: sent %zd got %zd '%.8s'\n", ntohs(address.sin_port), sent, got, buffer);
  shutdown(client, SHUT_WR);
  pthread_join(t, NULL);
  return 0;
}
