/* A handler whose frame does not fit on its stack: the process gets SIGSEGV, which it may handle. It dies of a second.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include "check.h"

static void never(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  _exit(1);
}

static const char* below;
static int below_bytes;
static volatile int small_is_enough;

static void small_enough(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  small_is_enough = 1;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  CHECK(number == SIGSEGV && info->si_code == SI_KERNEL);
  for (int i = 0; i < below_bytes; i++) CHECK(below[i] == 0);
  _exit(7);
}

/* Raises SIGUSR1, whose handler has no stack to run on. */
static pid_t raise_without_room(int fault_flags) {
  const pid_t child = fork();
  if (child != 0) return child;
  const struct rlimit no_core = {0, 0};
  const stack_t closed = {.ss_sp = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = 65536};
  setrlimit(RLIMIT_CORE, &no_core);
  CHECK(sigaltstack(&closed, NULL) == 0);
  on_signal(SIGUSR1, never, SA_ONSTACK);
  on_signal(SIGSEGV, on_fault, fault_flags);
  raise(SIGUSR1);
  _exit(2);
}

/* The stack exists but is too small. Memory below it stays unchanged. */
static pid_t raise_on_small_stack(void) {
  enum { kRoom = 65536, kSmall = 2048 };
  const pid_t child = fork();
  if (child != 0) return child;
  char* room = mmap(NULL, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t small = {.ss_sp = room + kRoom / 2, .ss_size = kSmall};
  if (sigaltstack(&small, NULL) != 0) _exit(7); /* this kernel refuses so small a stack */
  below = room;
  below_bytes = kRoom / 2;
  on_signal(SIGUSR1, small_enough, SA_ONSTACK);
  on_signal(SIGSEGV, on_fault, 0);
  raise(SIGUSR1);
  _exit(small_is_enough ? 7 : 2);
}

int main(void) {
  const int small = status_of(raise_on_small_stack());
  CHECK(WIFEXITED(small) && WEXITSTATUS(small) == 7);
  const int handled = status_of(raise_without_room(0));
  CHECK(WIFEXITED(handled) && WEXITSTATUS(handled) == 7);
  const int died = status_of(raise_without_room(SA_ONSTACK));
  CHECK(WIFSIGNALED(died) && WTERMSIG(died) == SIGSEGV);
  puts("no room");
  return 0;
}
