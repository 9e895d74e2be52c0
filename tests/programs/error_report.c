/* A counter without a lock, and an error message that reads files for the first time.
 *
 * Bug: two threads add to a counter that nothing protects.
 * Shown by: one addition is lost. One preemption.
 * Idea: programs that put the time into error messages, and test frameworks that look for a debugger when a check
 * fails.
 * Expected: message and exit status 3 (wrong count).
 * Arguments: none.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile int count;

static void* adder(void* arg) {
  count = count + 1;
  return arg;
}

static int tracer(void) {
  int pid = -1;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "TracerPid: %d", &pid);
  if (status != NULL) fclose(status);
  return pid;
}

static long bytes_of(const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return -1;
  fseek(file, 0, SEEK_END);
  const long end = ftell(file);
  rewind(file);
  long bytes = 0;
  while (getc(file) != EOF) bytes++;
  fclose(file);
  return bytes == end ? bytes : -2;
}

int main(void) {
  pthread_t one, other;
  pthread_create(&one, NULL, adder, NULL);
  pthread_create(&other, NULL, adder, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  if (count == 2) return 0;
  const time_t now = time(NULL);
  char text[64];
  strftime(text, sizeof text, "%Y-%m-%d %Z", localtime(&now));
  const int traced = tracer();
  const int known = bytes_of("/etc/passwd") > 0 && bytes_of("/etc/there is no such file") == -1;
  fprintf(stderr, "%s: count is %d%s\n", text, count, traced == 0 && known ? "" : ", and files are not as they were");
  return traced == 0 && known ? 3 : 4;
}
