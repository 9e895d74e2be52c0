/* The recording cannot answer everything: UNANSWERED report: a lost update, reported to a server that the passing run
   never asked. UNANSWERED order: correct; the order of two threads is sent to a server. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance, turn;
static char order[3];

static void* deposit(void* unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  int seen = balance;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  balance = seen + 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}
static void* note(void* name) {
  pthread_mutex_lock(&lock);
  order[turn++] = *(const char*)name;
  pthread_mutex_unlock(&lock);
  return NULL;
}
static void tell(const char* text) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (connect(fd, (struct sockaddr*)&to, sizeof to) == 0) write(fd, text, strlen(text));
  close(fd);
}
int main(int argc, char** argv) {
  int reports = argc > 1 && strcmp(argv[1], "report") == 0;
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, reports ? deposit : note, "a");
  pthread_create(&threads[1], NULL, reports ? deposit : note, "b");
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  if (!reports) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/order-%s", order);
    tell(name);
    access(name, F_OK);
    return 0;
  }
  if (balance == 2) return 0;
  tell("lost an update\n");
  return 1;
}
