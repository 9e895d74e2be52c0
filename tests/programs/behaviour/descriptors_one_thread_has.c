/* A thread with its own descriptor table, whose numbers mean other files, or nothing, in the rest of the process: what
 * it maps, lists, executes and waits for comes from its own table. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include "check.h"

enum { kFile = 20, kBytes = 8192 };
static pthread_barrier_t apart, done;

static int file_with(char content) {
  char name[] = "descriptors_one_thread_has_XXXXXX", bytes[kBytes];
  const int fd = mkstemp(name);
  memset(bytes, content, sizeof bytes);
  CHECK(fd >= 0 && unlink(name) == 0 && write(fd, bytes, sizeof bytes) == kBytes);
  return fd;
}

static void maps(void) {
  CHECK(dup2(file_with('t'), kFile) == kFile);
  char* own = mmap(NULL, kBytes, PROT_READ, MAP_PRIVATE, kFile, 0);
  CHECK(own != MAP_FAILED && own[0] == 't' && own[kBytes - 1] == 't');
  char* shared = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kFile, 0);
  CHECK(shared != MAP_FAILED && shared[5000] == 't');
  CHECK(pwrite(kFile, "written", 7, 100) == 7 && memcmp(shared + 100, "written", 7) == 0);
  shared[200] = 'u';
  char byte;
  CHECK(pread(kFile, &byte, 1, 200) == 1 && byte == 'u');
  printf("mapped %c%c%c\n", own[0], shared[100], shared[200]);
}

static void lists(void) {
  char byte;
  int count = 0, status = open("/proc/thread-self/status", O_RDONLY);
  CHECK(status >= 0 && read(status, &byte, 1) == 1 && byte == 'N');
  CHECK(lseek(status, 0, SEEK_SET) == 0 && read(status, &byte, 1) == 1 && byte == 'N' && close(status) == 0);
  DIR* directory = opendir("/proc/thread-self/fd");
  CHECK(directory != NULL);
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    const int number = atoi(entry->d_name);
    CHECK(entry->d_name[0] == '.' || fcntl(number, F_GETFD) != -1);
    count += number == kFile;
  }
  CHECK(count == 1 && closedir(directory) == 0);
}

static void waits(void) {
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(1);
  }
  const int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
  CHECK(pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) == 0);
  siginfo_t info;
  CHECK(waitid((idtype_t)3, (id_t)pidfd, &info, WEXITED) == 0 && info.si_pid == child && info.si_status == SIGTERM);
}

static void* uses_own(void* argument) {
  CHECK(unshare(CLONE_FILES) == 0);
  pthread_barrier_wait(&apart);
  maps();
  lists();
  waits();
  CHECK(lseek(kFile, 0, SEEK_CUR) == kBytes);
  pthread_barrier_wait(&done);
  return argument;
}

/* The main thread maps its own file of that number after the other thread has mapped its file. */
static void apart_from_main(void) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&apart, NULL, 2) == 0 && pthread_barrier_init(&done, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, uses_own, NULL) == 0);
  pthread_barrier_wait(&apart);
  CHECK(dup2(file_with('m'), kFile) == kFile && close_range(kFile + 1, ~0u, 0) == 0);
  char* own = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kFile, 0);
  pthread_barrier_wait(&done);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(own != MAP_FAILED && own[100] == 'm' && own[200] == 'm' && pwrite(kFile, "w", 1, 300) == 1 && own[300] == 'w');
  printf("mapped %c%c%c\n", own[100], own[200], own[300]);
}

static void* ends_pipe(void* argument) {
  const int* ends = argument;
  char byte;
  CHECK(unshare(CLONE_FILES) == 0 && close(ends[1]) == 0);
  pthread_barrier_wait(&apart);
  CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x' && read(ends[0], &byte, 1) == 0);
  return argument;
}

/* A pipe reaches end of file when its write end is closed in the last table. */
static void pipes(void) {
  int ends[2];
  pthread_t thread;
  CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, ends_pipe, ends) == 0);
  pthread_barrier_wait(&apart);
  CHECK(write(ends[1], "x", 1) == 1);
  usleep(1000);
  CHECK(close(ends[1]) == 0 && pthread_join(thread, NULL) == 0 && close(ends[0]) == 0);
}

static void* executes(void* argument) {
  CHECK(unshare(CLONE_FILES) == 0);
  const int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  CHECK(program >= 0 && dup2(1, kFile) == kFile && close(1) == 0);
  char* arguments[] = {"x", "other", NULL};
  syscall(SYS_execveat, program, "", arguments, environ, AT_EMPTY_PATH);
  _exit(1);
  return argument;
}

/* The new program has the descriptors of the thread that executed it. */
static void executed_by_thread(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, executes, NULL) == 0);
    for (;;) pause();
  }
  expect_success(child);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "other") == 0) return fcntl(1, F_GETFD) != -1 || write(kFile, "executed\n", 9) != 9;
  apart_from_main();
  pipes();
  executed_by_thread();
  puts("done");
  return 0;
}
