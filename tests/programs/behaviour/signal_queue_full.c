/* Many queued signals of one number: none is lost, and they arrive in order. */
#define _GNU_SOURCE
#include <signal.h>
#include "check.h"

enum { COUNT = 200 };

static volatile int got, out_of_order;
static void on_one(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  if (info->si_value.sival_int != got) out_of_order++;
  got++;
}

static void send_all(pid_t to) {
  for (int i = 0; i < COUNT; i++) CHECK(sigqueue(to, SIGRTMIN + 2, (union sigval){.sival_int = i}) == 0);
}

int main(void) {
  sigset_t one, before;
  int status;
  alarm(20);
  on_signal(SIGRTMIN + 2, on_one, 0);
  sigemptyset(&one);
  sigaddset(&one, SIGRTMIN + 2);
  CHECK(sigprocmask(SIG_BLOCK, &one, &before) == 0);
  send_all(getpid());
  CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0 && got == COUNT && out_of_order == 0);
  got = 0;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    send_all(parent);
    _exit(0);
  }
  while (waitpid(child, &status, 0) == -1) CHECK(errno == EINTR);
  while (got < COUNT) usleep(1000);
  CHECK(status == 0 && got == COUNT && out_of_order == 0);
  puts("in order");
  return 0;
}
