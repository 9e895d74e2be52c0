/* A program that starts itself in every possible way, one process after the other and two at a time. What they read and
 * write and their statuses do not depend on the schedule. They share a socket and a file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[4096];

static void demand(int condition) {
  if (!condition) abort();
}

static int status_of(pid_t child) {
  int status = 0;
  demand(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

static pid_t spawn(const char* argument) {
  char* arguments[] = {program, (char*)argument, NULL};
  pid_t child = 0;
  demand(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
  return child;
}

static pid_t execute_by_vfork(const char* argument) {
  pid_t child = vfork();
  if (child == 0) {
    execl(program, program, argument, (char*)NULL);
    _exit(127);
  }
  return child;
}

static void check_popen(void) {
  char command[4200], line[64] = {0};
  snprintf(command, sizeof command, "%s say", program);
  FILE* output = popen(command, "r");
  demand(output != NULL && fgets(line, sizeof line, output) != NULL && strcmp(line, "said\n") == 0);
  demand(pclose(output) == 0);
  snprintf(command, sizeof command, "exit 5");
  demand(WEXITSTATUS(system(command)) == 5);
}

static void check_socket(void) {
  int ends[2];
  demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    char text[8] = {0};
    demand(read(ends[1], text, 4) == 4 && strcmp(text, "ping") == 0);
    demand(write(ends[1], "pong", 4) == 4);
    _exit(0);
  }
  char text[8] = {0};
  close(ends[1]);
  demand(write(ends[0], "ping", 4) == 4 && read(ends[0], text, 4) == 4 && strcmp(text, "pong") == 0);
  demand(read(ends[0], text, 4) == 0 && status_of(child) == 0);
}

/* The processes share the offset in the file. */
static void check_file(void) {
  char name[] = "/tmp/reweave-processes-XXXXXX", text[16] = {0};
  int fd = mkstemp(name);
  demand(fd >= 0 && unlink(name) == 0 && write(fd, "one", 3) == 3);
  pid_t child = fork();
  if (child == 0) _exit(write(fd, "two", 3) == 3 ? 0 : 1);
  demand(status_of(child) == 0 && lseek(fd, 0, SEEK_CUR) == 6);
  demand(lseek(fd, 0, SEEK_SET) == 0 && read(fd, text, sizeof text) == 6 && strcmp(text, "onetwo") == 0);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "say") == 0) return puts("said") < 0;
  if (argc > 1) return atoi(argv[1]);
  demand(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
  pid_t first = spawn("1"), second = spawn("2");
  demand(status_of(second) == 2 && status_of(first) == 1);
  demand(status_of(execute_by_vfork("3")) == 3);
  check_popen();
  check_socket();
  check_file();
  puts("passed");
  return 0;
}
