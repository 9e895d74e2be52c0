/* Correct: the C library reads and writes blocks up to their last byte. Some calls ask for more than there is room for,
   but no more can come; some strings of given length have no NUL; some addresses are refused by the kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static void require(int line, int right) {
  if (right) return;
  fprintf(stderr, "not so: line %d\n", line);
  exit(1);
}
#define REQUIRE(right) require(__LINE__, right)

static void* copy(const void* from, size_t bytes) { return memcpy(malloc(bytes), from, bytes); }

static void files(void) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  char *three = copy("abc", 3), *two = malloc(2);
  REQUIRE(write(ends[1], three, 3) == 3 && read(ends[0], three, 3) == 3);
  REQUIRE(write(ends[1], "xy", 2) == 2 && read(ends[0], two, 100) == 2);
  struct iovec* parts = malloc(2 * sizeof *parts);
  parts[0] = (struct iovec){two, 2};
  parts[1] = (struct iovec){three, 3};
  REQUIRE(writev(ends[1], parts, 2) == 5);
  parts[1].iov_len = 1000;
  REQUIRE(readv(ends[0], parts, 2) == 5);
  REQUIRE(write(ends[1], malloc(0), 0) == 0);
  REQUIRE(write(-1, (void*)-1L, 10) == -1 && readv(-1, (void*)8, 1) == -1);
  struct pollfd* one = copy(&(struct pollfd){ends[0], POLLIN, 0}, sizeof *one);
  REQUIRE(poll(one, 1, 0) == 0);
}

static void sockets(void) {
  int pair[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  char *four = malloc(4), *three = malloc(3);
  REQUIRE(send(pair[0], "0123456789", 10, 0) == 10 && recv(pair[1], four, 4, MSG_TRUNC) == 10);
  struct sockaddr* name = malloc(2);
  socklen_t* length = copy(&(socklen_t){2}, sizeof *length);
  REQUIRE(getsockname(pair[0], name, length) == 0);
  *length = 2;
  REQUIRE(send(pair[0], "01", 2, 0) == 2 && recvfrom(pair[1], four, 4, 0, name, length) == 2);
  struct iovec* parts = copy((struct iovec[]){{four, 2}, {three, 3}}, 2 * sizeof *parts);
  struct msghdr* message = copy(&(struct msghdr){.msg_iov = parts, .msg_iovlen = 2}, sizeof *message);
  REQUIRE(send(pair[0], "012", 3, 0) == 3 && recvmsg(pair[1], message, 0) == 3);
}

static void streams(void) {
  char text[] = "ab\ncdefg\n", *line = malloc(3), *rest = malloc(6);
  FILE* stream = fmemopen(text, 9, "r");
  REQUIRE(fgets(line, 3, stream) == line && fgets(line, 2, stream) == line && fread(rest, 1, 6, stream) == 6);
  fclose(stream);
  REQUIRE(fwrite(rest, 3, 2, stdout) == 2);
  char *cut = malloc(4), *three = copy("abc", 3), *word = malloc(4), *letters = malloc(5);
  printf("%.3s %.*s %s %ls\n", three, 3, three, (char*)NULL, L"wide");
  REQUIRE(snprintf(cut, 4, "%s", "long text") == 9 && sprintf(word, "%03d", 7) == 3);
  int* number = malloc(sizeof *number);
  REQUIRE(sscanf("12 abcdefg", "%d %3s", number, word) == 2 && sscanf("hello", "%5c", letters) == 1);
}

static void strings(void) {
  char *three = copy("abc", 3), *end = copy("", 1);
  REQUIRE(strncasecmp(three, "abX", 100) != 0 && strncmp(three, "abX", 100) != 0 && memcmp(three, "abc", 3) == 0);
  REQUIRE(strlen(strndup(three, 3)) == 3 && memrchr(three, 'a', 3) == three && strnlen(three, 3) == 3);
  REQUIRE(strtol(end, NULL, 10) == 0 && strpbrk(end, "x") == NULL && strcspn(end, "x") == 0);
  wchar_t* wide = copy(L"ab", 3 * sizeof *wide);
  REQUIRE(wcslen(wide) == 2 && wcsnlen(wide, 2) == 2);
  regex_t* pattern = malloc(sizeof *pattern);
  REQUIRE(regcomp(pattern, "b", 0) == 0 && regexec(pattern, three, 1, &(regmatch_t){0, 3}, REG_STARTEND) == 0);
  regfree(pattern);
  free(pattern);
}

static void times(void) {
  time_t* when = copy(&(time_t){0}, sizeof *when);
  struct tm* parts = malloc(sizeof *parts);
  struct timespec* clock = malloc(sizeof *clock);
  char* text = malloc(26);
  REQUIRE(gmtime_r(when, parts) == parts && asctime_r(parts, text) == text && ctime_r(when, text) == text);
  REQUIRE(clock_gettime(CLOCK_REALTIME, clock) == 0 && mktime(parts) != -1);
}

/* The last user destroys and frees the lock that the other user has just released. */
struct Shared {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int users;
};

static void* leave(void* given) {
  struct Shared* shared = given;
  pthread_mutex_lock(&shared->lock);
  const int left = --shared->users;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->lock);
  if (left != 0) return NULL;
  pthread_cond_destroy(&shared->changed);
  pthread_mutex_destroy(&shared->lock);
  free(shared);
  return NULL;
}

static void locks(void) {
  struct Shared* shared = calloc(1, sizeof *shared);
  shared->users = 2;
  pthread_mutex_init(&shared->lock, NULL);
  pthread_cond_init(&shared->changed, NULL);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, leave, shared);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

/* The argument "streams" leaves out datagrams, which explored runs do not truncate. */
int main(int argc, char** argv) {
  files();
  if (argc == 1 || strcmp(argv[1], "streams") != 0) sockets();
  streams();
  strings();
  times();
  locks();
  return 0;
}
