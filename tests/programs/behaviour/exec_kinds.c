/* exec by path, by descriptor, relative to a folder, of a script, from a second thread; what survives exec; errors. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include "check.h"

static const char* self;
static void nothing(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context; }

static void* executes(void* arg) {
  char* argv[] = {(char*)self, arg, NULL};
  execv(self, argv);
  return NULL;
}

static void run(char* how) {
  char* argv[] = {(char*)self, how, NULL};
  char* env[] = {"MARK=set", NULL};
  pid_t child = fork();
  if (child == 0) {
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN), signal(SIGSEGV, SIG_IGN);
    on_signal(SIGHUP, nothing, 0);
    kill(getpid(), SIGUSR1);
    if (strcmp(how, "path") == 0) execve(self, argv, env);
    if (strcmp(how, "fd") == 0) fexecve(open(self, O_RDONLY), argv, env);
    if (strcmp(how, "cloexec") == 0)
      syscall(SYS_execveat, open(self, O_RDONLY | O_CLOEXEC), "", argv, env, AT_EMPTY_PATH);
    if (strcmp(how, "proc") == 0) execve("/proc/self/exe", argv, env);
    if (strcmp(how, "at") == 0) {
      char folder[4096];
      strcpy(folder, self);
      char* slash = strrchr(folder, '/');
      *slash = 0;
      syscall(SYS_execveat, open(folder, O_PATH), slash + 1, argv, env, 0);
    }
    if (strcmp(how, "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, executes, how);
      pthread_join(thread, NULL);
    }
    _exit(77);
  }
  expect_success(child);
}

static int executed(const char* how) {
  sigset_t set;
  struct sigaction action;
  CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigismember(&set, SIGUSR1));
  CHECK(sigpending(&set) == 0 && sigismember(&set, SIGUSR1));
  CHECK(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
  CHECK(sigaction(SIGSEGV, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
  CHECK(sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_DFL && gettid() == getpid());
  if (strcmp(how, "thread") != 0) CHECK(getenv("MARK") != NULL && strcmp(getenv("MARK"), "set") == 0);
  return 0;
}

static void scripts(void) {
  char name[64], text[5000];
  snprintf(name, sizeof name, "/tmp/reweave-script-%d", getpid());
  int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0755),
      length = sprintf(text, "#!/bin/sh -e\n[ \"$1\" = given ]\nexit 6\n");
  CHECK(write(fd, text, (size_t)length) == length && close(fd) == 0);
  pid_t child = fork();
  if (child == 0) execl(name, name, "given", NULL);
  CHECK(WEXITSTATUS(status_of(child)) == 6);
  CHECK(chmod(name, 0644) == 0);
  char* argv[] = {name, NULL};
  FAILS(execve(name, argv, environ), EACCES);
  FAILS(execve("/no/such/file", argv, environ), ENOENT);
  FAILS(execve("/tmp", argv, environ), EACCES);
  CHECK(chmod(name, 0755) == 0 && truncate(name, 0) == 0);
  FAILS(execve(name, argv, environ), ENOEXEC);
  FAILS(syscall(SYS_execveat, AT_FDCWD, "", argv, environ, 0), ENOENT);
  FAILS(syscall(SYS_execveat, -1, "x", argv, environ, 0), EBADF);
  unlink(name);
}

int main(int argc, char** argv) {
  static char path[4096];
  if (argc > 1) return executed(argv[1]);
  CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  self = path;
  char* ways[] = {"path", "fd", "cloexec", "proc", "at", "thread"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) run(ways[i]);
  scripts();
  puts("executed");
  return 0;
}
