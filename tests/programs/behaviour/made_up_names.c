/* made_up_names KIND [PREFIX]: two threads each create files whose names differ from run to run, keep several of them,
 * and use the names: they rename each file to the made-up part of its name, open it under that name,
 * and read it.
 *
 * KIND is one of
 * - drawn: six characters drawn from the time, as mkstemp(3) may draw them;
 * - tail, head: the same, but the last or first character never changes, as happens by chance in one of 62 names;
 * - time: seconds and nanoseconds, with a point between them;
 * - stamp: nanoseconds since 1970, and a suffix;
 * - mkstemp, mkdtemp: the C library's. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kFiles = 3, kRoom = 128 };

static const char *kind, *prefix = "tmp";

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int is(const char* name) { return strcmp(kind, name) == 0; }

static void draw(char drawn[kRoom], intptr_t salt) {
  static const char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";
  struct timespec now;
  clock_gettime(is("stamp") || is("time") ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
  if (is("time")) {
    snprintf(drawn, kRoom, "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
    return;
  }
  if (is("stamp")) {
    snprintf(drawn, kRoom, "%lld", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    return;
  }
  uint64_t bits = ((uint64_t)now.tv_nsec + (uint64_t)salt) * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 6; i++, bits <<= 5) drawn[i] = kLetters[bits >> 59];
  drawn[6] = 0;
  if (is("tail")) drawn[5] = 'A';
  if (is("head")) drawn[0] = 'A';
}

/* Creates a file. Sets its name, and where the made-up part of the name begins. */
static int make(char name[kRoom], const char** made_up, intptr_t salt) {
  if (is("mkstemp") || is("mkdtemp")) {
    snprintf(name, kRoom, "%sXXXXXX", prefix);
    *made_up = name + strlen(prefix);
    if (is("mkstemp")) return mkstemp(name);
    if (mkdtemp(name) == NULL) return -1;
    strcat(name, "/f");
    return open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  }
  char drawn[kRoom];
  draw(drawn, salt);
  snprintf(name, kRoom, "%s%s%s", prefix, drawn, is("stamp") ? ".log" : "");
  *made_up = name + strlen(prefix);
  return open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
}

struct file {
  int made;
  char name[kRoom], moved[kRoom];
};

static void begin(struct file* file, intptr_t salt) {
  const char* made_up = NULL;
  file->made = make(file->name, &made_up, salt);
  if (file->made < 0) fail("make");
  if (write(file->made, file->name, kRoom) != kRoom) fail("write");
  snprintf(file->moved, kRoom, "%.*s.r", (int)strcspn(made_up, "/"), made_up);
  if (rename(file->name, file->moved) != 0) fail("rename");
}

static void finish(struct file* file) {
  char content[kRoom];
  const int again = open(file->moved, O_RDONLY);
  if (again < 0 || read(again, content, kRoom) != kRoom) fail("read");
  if (strcmp(content, file->name) != 0) fail("another file");
  if (unlink(file->moved) != 0) fail("unlink");
  close(file->made);
  close(again);
  if (is("mkdtemp")) {
    *strrchr(file->name, '/') = 0;
    if (rmdir(file->name) != 0) fail("rmdir");
  }
}

static void* work(void* thread) {
  struct file files[kFiles];
  memset(files, 0, sizeof files);
  for (int i = 0; i < kFiles; i++) begin(&files[i], (intptr_t)thread * kFiles + i);
  for (int i = kFiles; i-- > 0;) finish(&files[i]);
  return NULL;
}

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "drawn";
  if (argc > 2) prefix = argv[2];
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
