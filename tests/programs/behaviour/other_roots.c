/* Programs executed after chroot and pivot_root, where there is neither /proc nor Reweave. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>

#include "check.h"

static char folder[] = "/tmp/reweave-roots-XXXXXX";

/* Copies a file to the path `name` below `folder`. */
static void copy(const char* from, const char* name) {
  static char bytes[1 << 20];
  char to[4200];
  snprintf(to, sizeof to, "%s%s", folder, name);
  for (char* slash = strchr(to + sizeof folder, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    CHECK(mkdir(to, 0755) == 0 || errno == EEXIST);
    *slash = '/';
  }
  int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) CHECK(write(out, bytes, (size_t)n) == n);
  CHECK(close(in) == 0 && close(out) == 0);
}

/* Copies this program and what it needs: the C library at its mapped path, the loader at the path in programs. */
static void fill_folder(void) {
  char line[4200], library[4096] = "";
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "/libc.so.6\n") != NULL || strstr(line, "/libc-2") != NULL)
      CHECK(sscanf(strchr(line, '/'), "%4095s", library) == 1);
  CHECK(fclose(maps) == 0);
  copy("/proc/self/exe", "/program");
  copy("/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2");
  if (library[0] != 0) copy(library, "/lib/x86_64-linux-gnu/libc.so.6");
}

static void* count(void* lock) {
  static int counter;
  for (int i = 0; i < 1000; i++) {
    CHECK(pthread_mutex_lock(lock) == 0);
    counter++;
    CHECK(pthread_mutex_unlock(lock) == 0);
  }
  return &counter;
}

/* The program that runs in the new root. It executes itself once more. */
static int be_there(const char* again) {
  FAILS(access("/proc", F_OK), ENOENT);
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, count, &lock) == 0);
  void* counter;
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], &counter) == 0);
  printf("%s: counted to %d\n", again, *(int*)counter);
  fflush(stdout);
  if (strcmp(again, "once") == 0) execl("/program", "program", "twice", NULL);
  return 0;
}

static void execute_in(int (*enter)(void)) {
  pid_t child = fork();
  if (child == 0) {
    if (enter() != 0) _exit(0); /* not allowed here */
    execl("/program", "program", "once", NULL);
    _exit(9);
  }
  expect_success(child);
}

static int change_root(void) {
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0) return -1;
  return chroot(folder) == 0 && chdir("/") == 0 ? 0 : -1;
}

/* Makes the folder the root. Nothing of the old root stays reachable. */
static int exchange_root(void) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return -1;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1; /* in a chroot, / is not a mount */
  CHECK(mount(folder, folder, NULL, MS_BIND, NULL) == 0 && chdir(folder) == 0);
  CHECK(syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 && chdir("/") == 0);
  return 0;
}

int main(int count, char** arguments) {
  if (count > 1) return be_there(arguments[1]);
  CHECK(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0);
  fill_folder();
  execute_in(change_root);
  execute_in(exchange_root);
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
  puts("done");
  return 0;
}
