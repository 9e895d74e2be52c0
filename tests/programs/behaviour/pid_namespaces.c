/* PID namespaces: the ids of their processes inside, signals to the first one, and the processes that its end kills. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>

#include "check.h"

static unsigned long new_namespace = CLONE_NEWPID;

static pid_t fork_into(unsigned long flags) {
  return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void expect_death(pid_t child, int signal) {
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

static void* thread_main(void* lock) {
  CHECK(pthread_mutex_lock(lock) == 0);
  long id = syscall(SYS_gettid);
  CHECK(pthread_mutex_unlock(lock) == 0);
  return (void*)id;
}

/* Threads, and locks whose words contain thread ids. */
static void use_threads(void) {
  pthread_mutexattr_t inherits;
  pthread_mutex_t lock;
  CHECK(pthread_mutexattr_init(&inherits) == 0);
  CHECK(pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT) == 0);
  CHECK(pthread_mutex_init(&lock, &inherits) == 0);
  pthread_t threads[3];
  CHECK(pthread_mutex_lock(&lock) == 0);
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, thread_main, &lock) == 0);
  sched_yield();
  CHECK(pthread_mutex_unlock(&lock) == 0);
  for (int i = 0; i < 3; i++) {
    void* id;
    CHECK(pthread_join(threads[i], &id) == 0);
    printf("thread %ld\n", (long)id);
  }
}

static volatile sig_atomic_t got, sender;
static void note(int number, siginfo_t* info, void* context) {
  (void)context;
  got = number;
  sender = info->si_pid;
}

/* The first process has id 1 and no parent. Signals from inside that it does not handle neither end nor stop it. */
static void be_first(void) {
  CHECK(getpid() == 1 && syscall(SYS_gettid) == 1 && getppid() == 0);
  CHECK(raise(SIGTERM) == 0 && raise(SIGKILL) == 0 && raise(SIGSTOP) == 0 && raise(SIGPIPE) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(getpid() == 2 && getppid() == 1);
    CHECK(kill(1, SIGKILL) == 0 && kill(1, SIGTERM) == 0);
    FAILS(kill(3, 0), ESRCH);
    _exit(7);
  }
  CHECK(child == 2);
  siginfo_t info;
  CHECK(waitid(P_PID, 2, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == 2 && info.si_status == 7);
  int status = status_of(2);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  on_signal(SIGUSR1, note, 0);
  child = fork();
  if (child == 0) {
    CHECK(kill(getppid(), SIGUSR1) == 0);
    pause();
  }
  while (got == 0) usleep(1000);
  printf("signal %d from %d, my child is %d\n", (int)got, (int)sender, child);
  CHECK(kill(child, SIGKILL) == 0);
  expect_death(child, SIGKILL);
  fflush(stdout);
  child = fork(); /* for the C library does not know that this process has another id than its parent */
  if (child == 0) {
    use_threads();
    fflush(stdout);
    _exit(0);
  }
  expect_success(child);
  _exit(0);
}

/* The tracer would be its parent outside, which knows it by another id: Reweave refuses that. */
static void ask_to_be_traced(void) {
  CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 || errno == EPERM);
  _exit(0);
}

/* When its parent ends, a process becomes the child of the first process of the namespace. */
static void adopt(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      char byte;
      CHECK(close(ends[1]) == 0 && read(ends[0], &byte, 1) == 0);
      _exit(getppid() == 1 && getpid() == 3 ? 0 : 9);
    }
    _exit(0);
  }
  CHECK(close(ends[0]) == 0);
  expect_success(child);
  CHECK(close(ends[1]) == 0);
  expect_success(3);
  FAILS(wait(NULL), ECHILD);
  _exit(0);
}

/* When the first process ends, all others are killed. `crash`: it ends by a fault. */
static void leave_others(int crash) {
  for (int i = 0; i < 3; i++) {
    if (fork() != 0) continue;
    for (;;) i == 0 ? (void)sched_yield() : (void)pause(); /* child 0 may be running when it is killed */
  }
  usleep(1000);
  if (crash) *(volatile int*)8 = 0;
  _exit(3);
}

static void end_namespace(int crash) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t first = fork_into(new_namespace);
  if (first == 0) {
    CHECK(close(ends[0]) == 0);
    leave_others(crash);
  }
  CHECK(close(ends[1]) == 0);
  int status = status_of(first);
  CHECK(crash ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV : WIFEXITED(status) && WEXITSTATUS(status) == 3);
  char byte;
  CHECK(read(ends[0], &byte, 1) == 0); /* no process has the other end any more */
  CHECK(close(ends[0]) == 0);
}

static void wait_for_ever(void) {
  if (fork() == 0) pause();
  for (;;) pause();
}

/* From outside, SIGKILL ends the first process. Other signals without a handler have no effect. */
static void kill_from_outside(void) {
  pid_t first = fork_into(new_namespace);
  if (first == 0) wait_for_ever();
  CHECK(kill(first, SIGTERM) == 0);
  usleep(1000);
  CHECK(waitpid(first, NULL, WNOHANG) == 0);
  CHECK(kill(first, SIGKILL) == 0);
  expect_death(first, SIGKILL);
}

/* unshare moves later children of the caller to a new namespace, not the caller. */
static void unshare_later_children(void) {
  pid_t own = getpid();
  CHECK(unshare((int)new_namespace) == 0 && getpid() == own);
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t first = fork();
  if (first == 0) {
    char byte;
    CHECK(close(ends[1]) == 0 && getpid() == 1 && getppid() == 0 && read(ends[0], &byte, 1) == 0);
    _exit(0);
  }
  CHECK(close(ends[0]) == 0);
  for (int id = 2; id < 4; id++) {
    pid_t other = fork();
    if (other == 0) _exit(getpid() == id && getppid() == 0 ? 0 : 9);
    expect_success(other);
  }
  CHECK(close(ends[1]) == 0);
  expect_success(first);
  FAILS(fork(), ENOMEM);
  _exit(0);
}

/* The file must contain `text`. */
static void expect_line(const char* path, const char* text) {
  static char content[1 << 16];
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  ssize_t size = 0, n;
  while ((n = read(fd, content + size, sizeof content - 1 - (size_t)size)) > 0) size += n;
  content[size] = 0;
  CHECK(close(fd) == 0 && strstr(content, text) != NULL);
}

/* First with the /proc of outside, then with that of the namespace. */
static void look_into_proc(void) {
  int marked = 0x5eed1e55;
  int memory = open("/proc/self/mem", O_RDWR);
  int other = 0x600d;
  CHECK(memory >= 0 && pwrite(memory, &other, sizeof other, (off_t)(uintptr_t)&marked) == sizeof other);
  CHECK(close(memory) == 0 && *(volatile int*)&marked == other);
  expect_line("/proc/self/maps", "[stack]");
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) _exit(0);
  if (mount("proc", "/proc", "proc", 0, NULL) != 0) _exit(0);
  expect_line("/proc/self/status", "\nPid:\t1\n");
  expect_line("/proc/1/maps", "[stack]");
  pid_t child = fork();
  if (child == 0) {
    expect_line("/proc/2/status", "\nPPid:\t1\n");
    expect_line("/proc/1/status", "\nPid:\t1\n");
    execl("/proc/self/exe", "pid_namespaces", "there", NULL);
    _exit(9);
  }
  expect_success(child);
  _exit(0);
}

static void in_new_namespace(void (*what)(void)) {
  fflush(stdout);
  pid_t child = fork_into(new_namespace);
  if (child == 0) what();
  expect_success(child);
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "there") == 0) return getpid() == 2 && getppid() == 1 ? 0 : 9;
  pid_t probe = fork_into(new_namespace);
  if (probe < 0) probe = fork_into(new_namespace |= CLONE_NEWUSER);
  if (probe < 0) return 0; /* not allowed here */
  if (probe == 0) _exit(0);
  expect_success(probe);
  in_new_namespace(be_first);
  in_new_namespace(ask_to_be_traced);
  in_new_namespace(adopt);
  in_new_namespace(look_into_proc);
  end_namespace(0);
  end_namespace(1);
  kill_from_outside();
  pid_t child = fork();
  if (child == 0) unshare_later_children();
  expect_success(child);
  puts("done");
  return 0;
}
