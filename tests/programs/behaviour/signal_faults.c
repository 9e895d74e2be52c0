/* Signals that instructions cause, and the same numbers sent by kill: code, address, and resuming after them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <ucontext.h>
#include "check.h"

static sigjmp_buf back;
static volatile siginfo_t last;
static char* page;

static void leave(int number, siginfo_t* info, void* context) {
  (void)context;
  last = *info;
  siglongjmp(back, number);
}

static void skip_two(int number, siginfo_t* info, void* context) {
  (void)number;
  last = *info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void note(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  last = *info;
}

static void mend(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  last = *info;
  CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
}

static volatile int steps;
static void stepped(int number, siginfo_t* info, void* context) {
  ucontext_t* u = context;
  (void)number;
  last = *info;
  if (++steps == 20) u->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

static void beyond_the_file(void) {
  char name[] = "/tmp/reweave-faults-XXXXXX";
  int fd = mkstemp(name);
  CHECK(fd >= 0 && write(fd, "abc", 3) == 3);
  volatile char* map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(map != MAP_FAILED && map[0] == 'a' && map[100] == 0);
  on_signal(SIGBUS, leave, 0);
  if (sigsetjmp(back, 1) == 0) CHECK(map[5000] == 1);
  CHECK(last.si_signo == SIGBUS && last.si_code == BUS_ADRERR && last.si_addr == map + 5000);
  unlink(name);
  close(fd);
}

static volatile int zero;
static void arithmetic(void) {
  on_signal(SIGFPE, leave, 0);
  if (sigsetjmp(back, 1) == 0) steps = 100 / zero;
  CHECK(last.si_signo == SIGFPE && last.si_code == FPE_INTDIV);
}

static void instructions(void) {
  on_signal(SIGILL, skip_two, 0);
  __asm__ volatile("ud2");
  CHECK(last.si_signo == SIGILL && last.si_code == ILL_ILLOPN);
  on_signal(SIGTRAP, note, 0);
  __asm__ volatile("int3");
  CHECK(last.si_signo == SIGTRAP && last.si_code == SI_KERNEL);
  on_signal(SIGSEGV, leave, 0);
  if (sigsetjmp(back, 1) == 0) __asm__ volatile("hlt");
  CHECK(last.si_signo == SIGSEGV && last.si_code == SI_KERNEL);
  if (sigsetjmp(back, 1) == 0) ((void (*)(void))8)();
  CHECK(last.si_signo == SIGSEGV && last.si_code == SEGV_MAPERR && last.si_addr == (void*)8);
  if (sigsetjmp(back, 1) == 0) *(volatile long*)0xdead000000000000 = 1;
  CHECK(last.si_signo == SIGSEGV && last.si_code == SI_KERNEL && last.si_addr == NULL);
}

static void single_steps(void) {
  on_signal(SIGTRAP, stepped, 0);
  __asm__ volatile(
      "pushf\n orq $0x100, (%%rsp)\n popf\n"
      "mov $100, %%ecx\n 1: dec %%ecx\n jnz 1b\n" ::
          : "rcx", "cc", "memory");
  CHECK(steps == 20 && last.si_code == TRAP_TRACE);
}

static void protection(void) {
  page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  on_signal(SIGSEGV, mend, 0);
  for (int i = 0; i < 10; i++) {
    page[i] = (char)i;
    CHECK(last.si_code == SEGV_ACCERR && last.si_addr == page + i);
    CHECK(page[i] == i && mprotect(page, 4096, PROT_READ) == 0);
  }
}

static void sent(int number) {
  on_signal(number, note, 0);
  last.si_signo = 0;
  CHECK(kill(getpid(), number) == 0 && last.si_signo == number && last.si_code == SI_USER && last.si_pid == getpid());
  last.si_signo = 0;
  CHECK(raise(number) == 0 && last.si_signo == number && last.si_code == SI_TKILL);
}

int main(void) {
  steps = 0;
  beyond_the_file();
  arithmetic();
  instructions();
  steps = 0;
  single_steps();
  protection();
  for (int i = 0; i < 5; i++) sent((int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}[i]);
  puts("faults");
  return 0;
}
