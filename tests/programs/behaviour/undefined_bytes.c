/* Bytes that no manual defines are the same in a replay: of the auxiliary vector, of a siginfo_t from each source, and
 * of signal frames. The program prints hashes of all of them. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <ucontext.h>
#include "check.h"

extern char** environ;

static uint64_t hash_of(const void* bytes, size_t count) {
  const unsigned char* at = bytes;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

static void show(const char* name, const void* bytes, size_t count) {
  printf("%-24s %016llx\n", name, (unsigned long long)hash_of(bytes, count));
}

/* The vector itself, the random bytes that it leads to, and the file of the same contents. */
static void auxiliary_vector(void) {
  char** at = environ;
  while (*at != NULL) at++;
  const Elf64_auxv_t *first = (const Elf64_auxv_t*)(at + 1), *last = first;
  while (last->a_type != AT_NULL) {
    if (last->a_type == AT_RANDOM) show("AT_RANDOM", (const void*)last->a_un.a_val, 16);
    last++;
  }
  const size_t bytes = (size_t)((const char*)(last + 1) - (const char*)first);
  show("auxiliary vector", first, bytes);
  char contents[4096];
  memset(contents, 0, sizeof contents);
  const int fd = open("/proc/self/auxv", O_RDONLY);
  CHECK(fd >= 0);
  const ssize_t got = read(fd, contents, sizeof contents);
  CHECK(got > 0 && close(fd) == 0);
  show("/proc/self/auxv", contents, (size_t)got);
}

static siginfo_t seen;
static ucontext_t context_seen;
static uint64_t state_words;
static void look(int number, siginfo_t* info, void* context) {
  (void)number;
  memcpy(&seen, info, sizeof seen);
  memcpy(&context_seen, context, sizeof context_seen);
  const unsigned char* state = (const unsigned char*)context_seen.uc_mcontext.fpregs;
  state_words = hash_of(state + 416, 96); /* words that the processor leaves to software */
}

static void in_a_handler(const char* name, int number) {
  memset(&seen, 0xee, sizeof seen);
  on_signal(number, look, 0);
  CHECK(raise(number) == 0);
  show(name, &seen, sizeof seen);
  show("  reserved words", context_seen.uc_mcontext.__reserved1, sizeof context_seen.uc_mcontext.__reserved1);
  show("  its registers", &context_seen.uc_mcontext.gregs, sizeof context_seen.uc_mcontext.gregs);
  show("  its stack", &context_seen.uc_stack, sizeof context_seen.uc_stack);
  show("  its mask", &context_seen.uc_sigmask, sizeof context_seen.uc_sigmask);
  printf("  its state              %016llx\n", (unsigned long long)state_words);
}

static void send(int number, int value) { CHECK(sigqueue(getpid(), number, (union sigval){value}) == 0); }

static void waited_for(void) {
  siginfo_t info;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGRTMIN);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  memset(&info, 0xee, sizeof info);
  CHECK(kill(getpid(), SIGUSR2) == 0 && sigwaitinfo(&set, &info) == SIGUSR2);
  show("sigwaitinfo", &info, sizeof info);
  memset(&info, 0xee, sizeof info);
  send(SIGRTMIN, 5);
  CHECK(sigwaitinfo(&set, &info) == SIGRTMIN);
  show("sigwaitinfo, queued", &info, sizeof info);
  const int fd = signalfd(-1, &set, 0);
  struct signalfd_siginfo told;
  memset(&told, 0xee, sizeof told);
  send(SIGRTMIN, 6);
  CHECK(read(fd, &told, sizeof told) == sizeof told && close(fd) == 0);
  show("signalfd", &told, sizeof told);
}

static void of_children(void) {
  siginfo_t info;
  const pid_t child = fork();
  if (child == 0) _exit(3);
  memset(&info, 0xee, sizeof info);
  CHECK(waitid(P_PID, (id_t)child, &info, WEXITED) == 0);
  show("waitid", &info, sizeof info);
  memset(&info, 0xee, sizeof info);
  const pid_t running = fork();
  if (running == 0)
    for (;;) pause();
  CHECK(waitid(P_PID, (id_t)running, &info, WEXITED | WNOHANG) == 0);
  show("waitid, nothing", &info, sizeof info);
  CHECK(kill(running, SIGKILL) == 0 && WIFSIGNALED(status_of(running)));
}

static void of_tracees(void) {
  siginfo_t info;
  int status;
  const pid_t child = fork();
  if (child == 0) {
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    getppid();
    __builtin_trap();
  }
  for (;;) { /* a signal, a call's entry and exit, a fault */
    memset(&info, 0xee, sizeof info);
    CHECK(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT) == 0);
    show("waitid of a tracee", &info, sizeof info);
    CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
    memset(&info, 0xee, sizeof info);
    CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0);
    show("PTRACE_GETSIGINFO", &info, sizeof info);
    if (WSTOPSIG(status) == SIGILL) break;
    CHECK(ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0);
  }
  CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(status_of(child)));
}

int main(void) {
  auxiliary_vector();
  in_a_handler("raise", SIGUSR1);
  in_a_handler("raise, synchronous", SIGFPE);
  in_a_handler("raise, SIGSYS", SIGSYS);
  waited_for();
  of_children();
  of_tracees();
  return 0;
}
