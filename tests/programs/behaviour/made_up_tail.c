/* Two threads each make a file with a name drawn from the time, as mkstemp(3) does, but whose last or first drawn
 * character is always the same, as it is by chance in one name of 62; rename it to what was drawn, and open that.
 *   made_up_tail PREFIX [first] */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* prefix;
static int first;

static void draw(char name[6], intptr_t thread) {
  static const char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t drawn = ((uint64_t)now.tv_nsec + (uint64_t)thread) * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 6; i++, drawn <<= 5) name[i] = kLetters[drawn >> 59];
  name[first ? 0 : 5] = 'A';
}

static void* work(void* thread) {
  char drawn[7] = {0}, name[64], other[64];
  draw(drawn, (intptr_t)thread);
  snprintf(name, sizeof name, "%s%s", prefix, drawn);
  snprintf(other, sizeof other, "%s.r", drawn);
  const int made = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (made < 0 || write(made, drawn, 6) != 6 || rename(name, other) != 0) exit(1);
  const int again = open(other, O_RDONLY);
  char content[6];
  if (again < 0 || read(again, content, 6) != 6 || memcmp(content, drawn, 6) != 0 || unlink(other) != 0) exit(1);
  close(made);
  close(again);
  return NULL;
}

int main(int argc, char** argv) {
  prefix = argc > 1 ? argv[1] : "tmp";
  first = argc > 2;
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
