/* A status file that stays open shows the current state at each read: when a child is stopped, continued and dead. */
#include "check.h"

static char state_of(int fd, int with_pread) {
  static char text[8192];
  ssize_t bytes;
  if (with_pread) {
    bytes = pread(fd, text, sizeof text - 1, 0);
  } else {
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    bytes = read(fd, text, sizeof text - 1);
  }
  if (bytes <= 0) return '-';
  text[bytes] = 0;
  const char* line = strstr(text, "\nState:\t");
  CHECK(line != NULL);
  return line[8];
}

static void await(int fd, char state) {
  for (int i = 0; i < 1000 && state_of(fd, i % 2) != state; i++) usleep(5000);
  CHECK(state_of(fd, 0) == state && state_of(fd, 1) == state);
}

/* True if the maps file `fd` lists a mapping that begins at `start`. */
static int lists(int fd, const void* start) {
  static char text[1 << 16];
  char line[32];
  size_t used = 0;
  ssize_t bytes;
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  while ((bytes = read(fd, text + used, sizeof text - 1 - used)) > 0) used += (size_t)bytes;
  text[used] = 0;
  snprintf(line, sizeof line, "%lx-", (unsigned long)start);
  return strstr(text, line) != NULL;
}

int main(void) {
  char name[64];
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  snprintf(name, sizeof name, "/proc/%d/status", child);
  int status = open(name, O_RDONLY);
  CHECK(status >= 0);
  await(status, 'S');
  CHECK(kill(child, SIGSTOP) == 0);
  await(status, 'T');
  CHECK(kill(child, SIGCONT) == 0);
  await(status, 'S');
  CHECK(kill(child, SIGKILL) == 0);
  await(status, 'Z');
  CHECK(WTERMSIG(status_of(child)) == SIGKILL);
  CHECK(state_of(status, 0) == '-');

  int maps = open("/proc/self/maps", O_RDONLY);
  char* page = mmap((void*)0x320000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(lists(maps, page) && munmap(page, 4096) == 0 && !lists(maps, page));
  puts("seen");
  return 0;
}
