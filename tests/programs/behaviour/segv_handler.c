/* A SIGSEGV handler that repairs the fault with mprotect, and one that leaves it with siglongjmp. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char* page;
static int faults;
static sigjmp_buf escape;

static void repair(int signo, siginfo_t* info, void* context) {
  (void)context;
  faults++;
  printf("signal %d code %d at page offset %ld\n", signo, info->si_code, (long)((char*)info->si_addr - page));
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void jump(int signo, siginfo_t* info, void* context) {
  (void)context;
  printf("signal %d at %p\n", signo, info->si_addr);
  siglongjmp(escape, 5);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = repair;
  sigaction(SIGSEGV, &action, NULL);
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 3; i++) {
    *(volatile char*)(page + 100 + i) = (char)('a' + i);
    mprotect(page, 4096, PROT_NONE);
  }
  mprotect(page, 4096, PROT_READ);
  printf("repaired %d faults, wrote %.3s\n", faults, page + 100);

  action.sa_sigaction = jump;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGILL, &action, NULL);
  int from = sigsetjmp(escape, 1);
  if (from == 0) *(volatile int*)16 = 1;
  printf("escaped with %d\n", from);
  from = sigsetjmp(escape, 1);
  if (from == 0) __builtin_trap();
  printf("escaped with %d\n", from);
  return 0;
}
