/* A program and a data file in a mount that is detached: their paths lead to other files, but descriptors do not. Needs
 * the right to mount. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int skip(const char* what) {
  printf("no %s here\n", what);
  return 0;
}

static void write_file(const char* path, const char* text) {
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) exit(2);
  close(fd);
}

int main(int argc, char** argv, char** env) {
  if (argc > 1) return puts("executed"), 0;
  if (unshare(CLONE_NEWNS) != 0) return skip("mount namespaces");
  if (mount("none", "/", 0, MS_REC | MS_PRIVATE, 0) != 0) return skip("private mounts");
  char folder[] = "/tmp/lost-mount-XXXXXX";
  if (mkdtemp(folder) == NULL || mount("none", folder, "tmpfs", 0, 0) != 0) return skip("tmpfs");
  if (chdir(folder) != 0) return 2;
  write_file("program", "nothing");
  write_file("data", "the wrong data");
  write_file("right", "the right data");
  if (mount(realpath("/proc/self/exe", NULL), "program", "", MS_BIND, 0) != 0) return skip("bind mounts");
  if (mount("right", "data", "", MS_BIND, 0) != 0) return skip("bind mounts");
  const int program = open("program", O_PATH), data = open("data", O_RDONLY);
  if (umount2("program", MNT_DETACH) != 0 || umount2("data", MNT_DETACH) != 0) return 2;
  const char* text = mmap(NULL, 14, PROT_READ, MAP_PRIVATE, data, 0);
  if (text == MAP_FAILED) return 2;
  printf("%.14s\n", text);
  fflush(stdout);
  chdir("/");
  umount2(folder, MNT_DETACH);
  rmdir(folder);
  char* arguments[] = {"program", "again", NULL};
  syscall(SYS_execveat, program, "", arguments, env, AT_EMPTY_PATH);
  perror("execveat");
  return 1;
}
