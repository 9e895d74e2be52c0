/* The alternate stack: used, left by siglongjmp, re-entered, disarmed, and needed when the stack overflows. */
#define _GNU_SOURCE
#include <setjmp.h>
#include "check.h"

static char stack_memory[64 << 10] __attribute__((aligned(16)));
static sigjmp_buf back;
static volatile int on_alternate, frames;

static int within(const void* p) {
  return (const char*)p >= stack_memory && (const char*)p < stack_memory + sizeof stack_memory;
}

static void look(int number, siginfo_t* info, void* context) {
  stack_t now;
  char here;
  ucontext_t* interrupted = context;
  (void)info;
  on_alternate = within(&here);
  CHECK(sigaltstack(NULL, &now) == 0);
  CHECK(now.ss_flags == (on_alternate ? SS_ONSTACK : 0));
  CHECK(interrupted->uc_stack.ss_sp == stack_memory && interrupted->uc_stack.ss_size == sizeof stack_memory);
  if (on_alternate) FAILS(sigaltstack(&now, NULL), EPERM);
  if (number == SIGUSR1) raise(SIGUSR2);
  frames++;
}

static void overflowed(int number, siginfo_t* info, void* context) {
  char here;
  (void)number, (void)context;
  CHECK(within(&here) && info->si_addr != NULL);
  siglongjmp(back, 1);
}

__attribute__((noipa)) static int recurse(int depth) {
  if (depth == 1 << 30) return 0;
  volatile char frame[4096];
  frame[0] = (char)depth;
  return recurse(depth + 1) + frame[0];
}

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1 << 31)
#endif
static void disarmed(int number, siginfo_t* info, void* context) {
  stack_t now;
  char here;
  (void)number, (void)info, (void)context;
  CHECK(within(&here));
  CHECK(sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0);
}

static void set_one(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  const stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
  CHECK(sigaltstack(&stack, NULL) == 0);
}

/* A stack that a handler sets persists if the thread never had one. Otherwise the return restores the old one. */
static void set_by_handler(void) {
  stack_t old, none = {.ss_flags = SS_DISABLE};
  on_signal(SIGUSR1, set_one, 0);
  raise(SIGUSR1);
  CHECK(sigaltstack(&none, &old) == 0 && old.ss_flags == 0 && old.ss_sp == stack_memory);
  raise(SIGUSR1);
  CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
}

int main(void) {
  set_by_handler();
  stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory}, old;
  CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
  CHECK(sigaltstack(&stack, NULL) == 0);
  on_signal(SIGUSR1, look, 0);
  on_signal(SIGUSR2, look, 0);
  raise(SIGUSR1);
  CHECK(frames == 2 && !on_alternate);
  on_signal(SIGUSR1, look, SA_ONSTACK);
  on_signal(SIGUSR2, look, SA_ONSTACK);
  raise(SIGUSR1);
  CHECK(frames == 4 && on_alternate);
  on_signal(SIGSEGV, overflowed, SA_ONSTACK);
  for (int i = 0; i < 3; i++)
    if (sigsetjmp(back, 1) == 0) recurse(0), CHECK(!"reached");
  CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == 0);

  stack.ss_flags = (int)SS_AUTODISARM;
  CHECK(sigaltstack(&stack, NULL) == 0);
  on_signal(SIGUSR1, disarmed, SA_ONSTACK);
  for (int i = 0; i < 2; i++) raise(SIGUSR1);
  CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == stack_memory && old.ss_flags == (int)SS_AUTODISARM);
  stack.ss_flags = SS_DISABLE;
  CHECK(sigaltstack(&stack, NULL) == 0 && sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
  stack.ss_flags = 0, stack.ss_size = 100;
  FAILS(sigaltstack(&stack, NULL), ENOMEM);
  stack.ss_flags = 17, stack.ss_size = sizeof stack_memory;
  FAILS(sigaltstack(&stack, NULL), EINVAL);
  puts("alternate stacks");
  return 0;
}
