/* A thread made with the clone system call: its code uses no libc, only raw system calls and a futex. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int alive; /* cleared and woken by the kernel when the thread has ended */
static atomic_int message;
static int parent_tid;

static long raw(long number, long a, long b, long c) {
  long result;
  register long fourth __asm__("r10") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
}

/* Runs on the new stack. Never returns. */
__attribute__((noreturn, used)) static void thread_main(void) {
  static const char text[] = "hello from a thread without libc\n";
  raw(SYS_write, 1, (long)text, sizeof text - 1);
  atomic_store(&message, (int)raw(SYS_gettid, 0, 0, 0));
  raw(SYS_futex, (long)&message, FUTEX_WAKE_PRIVATE, 1);
  for (;;) raw(SYS_exit, 0, 0, 0);
}

int main(void) {
  enum { kStack = 64 * 1024 };
  char* stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
               CLONE_CHILD_CLEARTID;
  long tid;
  alive = 1;
  {
    register void* child_tid __asm__("r10") = &alive;
    __asm__ volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "and $-16, %%rsp\n\t"
        "call thread_main\n\t"
        "1:"
        : "=a"(tid)
        : "a"((long)SYS_clone), "D"(flags), "S"(stack + kStack), "d"(&parent_tid), "r"(child_tid)
        : "rcx", "r8", "r9", "r11", "memory");
  }
  if (tid < 0) return 1;
  while (atomic_load(&message) == 0) syscall(SYS_futex, &message, FUTEX_WAIT_PRIVATE, 0, NULL);
  for (int seen; (seen = atomic_load(&alive)) != 0;) syscall(SYS_futex, &alive, FUTEX_WAIT, seen, NULL);
  munmap(stack, kStack);
  printf("clone gave %ld, parent_tid %d, the thread said %d\n", tid, parent_tid, message);
  return tid == message ? 0 : 1;
}
