/* Signals stop a traced process in a system call. Its tracer sees the registers with which the kernel will restart the
 * call, may make it call a function first, and decides by the registers whether the call is restarted. */
#define _GNU_SOURCE
#include "ptrace_check.h"

enum { kRestart = 512, kRestartWithoutHandler = 514 }; /* ERESTARTSYS and ERESTARTNOHAND of the kernel */

static volatile long calls;
long note_call(void);
long note_call(void) { return ++calls; }

static void nothing(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context; }

static int to_child[2], to_tracer[2];

/* Sends the tracer what an interrupted call returned, or the negative error. */
static void report(long result) {
  const long shown = result < 0 ? -errno : result;
  CHECK(write(to_tracer[1], &shown, sizeof shown) == sizeof shown);
}

static int child_work(void) {
  char byte;
  on_signal(SIGUSR1, nothing, 0);
  on_signal(SIGUSR2, nothing, SA_RESTART);
  for (int i = 0; i < 6; i++) report(read(to_child[0], &byte, 1));
  report(pause());
  return calls == 1 ? 0 : 1;
}

static long reported(void) {
  long result = 0;
  CHECK(read(to_tracer[0], &result, sizeof result) == sizeof result);
  return result;
}

static void give_byte(void) { CHECK(write(to_child[1], "x", 1) == 1); }

/* Stops the child in `call` by a signal. Tries again if the child was not in the call yet. */
static struct user_regs_struct stop_in(pid_t child, int number, long call, int code) {
  for (;;) {
    usleep(20000);
    CHECK(kill(child, number) == 0);
    CHECK(stop_of(child) == number);
    const struct user_regs_struct r = registers_of(child);
    if ((long)r.orig_rax == call) {
      CHECK((long)r.rax == -code);
      return r;
    }
    go_on(PTRACE_CONT, child, 0);
  }
}

static void call_between(pid_t child, struct user_regs_struct before) {
  static unsigned char* trap;
  struct user_regs_struct r = before;
  const unsigned long back = (unsigned long)&trap; /* not executable: the return faults */
  r.rsp = ((r.rsp - 512) & ~15UL) - 8;
  CHECK(ptrace(PTRACE_POKEDATA, child, r.rsp, back) == 0);
  r.rip = (unsigned long)note_call;
  r.orig_rax = -1;
  set_registers(child, r);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGSEGV && registers_of(child).rip == back);
  set_registers(child, before);
  go_on(PTRACE_CONT, child, 0);
}

int main(void) {
  CHECK(pipe(to_child) == 0 && pipe(to_tracer) == 0);
  const pid_t child = fork_traced();
  if (child == 0) _exit(child_work());
  go_on(PTRACE_CONT, child, 0);
  stop_in(child, SIGUSR1, SYS_read, kRestart); /* suppressed: the call is restarted */
  go_on(PTRACE_CONT, child, 0);
  give_byte();
  CHECK(reported() == 1);
  stop_in(child, SIGUSR1, SYS_read, kRestart); /* its handler ends the call */
  go_on(PTRACE_CONT, child, SIGUSR1);
  CHECK(reported() == -EINTR);
  stop_in(child, SIGUSR1, SYS_read, kRestart); /* the handler of SIGUSR2 does not end it */
  go_on(PTRACE_CONT, child, SIGUSR2);
  give_byte();
  CHECK(reported() == 1);
  call_between(child, stop_in(child, SIGUSR2, SYS_read, kRestart));
  give_byte();
  CHECK(reported() == 1);
  struct user_regs_struct r = stop_in(child, SIGUSR1, SYS_read, kRestart);
  r.rax = (unsigned long)-EDOM; /* the tracer sets the result */
  set_registers(child, r);
  go_on(PTRACE_CONT, child, 0);
  CHECK(reported() == -EDOM);
  r = stop_in(child, SIGUSR1, SYS_read, kRestart);
  r.orig_rax = -1; /* no restart: the program sees the internal error */
  set_registers(child, r);
  go_on(PTRACE_CONT, child, 0);
  CHECK(reported() == -kRestart);
  stop_in(child, SIGUSR2, SYS_pause, kRestartWithoutHandler);
  go_on(PTRACE_CONT, child, 0);
  stop_in(child, SIGUSR2, SYS_pause, kRestartWithoutHandler);
  go_on(PTRACE_CONT, child, SIGUSR2);
  CHECK(reported() == -EINTR);
  expect_success(child);
  puts("interrupted and restarted");
  return 0;
}
