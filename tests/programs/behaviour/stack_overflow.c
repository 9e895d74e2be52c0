/* Endless recursion: SIGSEGV on the alternate stack, in a thread and in main. A child without a handler dies of it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>

#include "check.h"

static _Thread_local sigjmp_buf out;
static _Thread_local char alternate[1 << 16];

static volatile int never = -1;

static __attribute__((noinline)) int endless(int depth) {
  volatile char frame[4096];
  frame[depth & 4095] = (char)depth;
  if (depth == never) return 0;
  return endless(depth + 1) + frame[(depth + 1) & 4095];
}

static void on_overflow(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  siglongjmp(out, 1);
}

static void* overflow(void* name) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  CHECK(sigaltstack(&stack, NULL) == 0);
  if (sigsetjmp(out, 1) == 0) endless(0);
  printf("%s overflowed\n", (const char*)name);
  return NULL;
}

int main(void) {
  struct rlimit limit = {1 << 20, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
  struct rlimit core = {0, 0};
  CHECK(setrlimit(RLIMIT_CORE, &core) == 0);
  on_signal(SIGSEGV, on_overflow, SA_ONSTACK);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, overflow, "thread") == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  overflow("main");
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(endless(0));
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  return 0;
}
