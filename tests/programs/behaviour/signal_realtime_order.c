/* Real-time signals queue in order, with their values. Ordinary signals do not. */
#define _GNU_SOURCE
#include <pthread.h>
#include "check.h"

static int seen[64][2];
static volatile int count;

static void note(int number, siginfo_t* info, void* context) {
  (void)context;
  seen[count][0] = number;
  seen[count++][1] = info->si_value.sival_int;
}

static void queue(int number, int value) { CHECK(sigqueue(getpid(), number, (union sigval){.sival_int = value}) == 0); }

static void same_number_in_order(sigset_t* all) {
  count = 0;
  for (int i = 0; i < 10; i++) queue(SIGRTMIN + 1, i);
  CHECK(sigprocmask(SIG_UNBLOCK, all, NULL) == 0);
  CHECK(count == 10);
  for (int i = 0; i < 10; i++) CHECK(seen[i][0] == SIGRTMIN + 1 && seen[i][1] == i);
  CHECK(sigprocmask(SIG_BLOCK, all, NULL) == 0);
}

static void lower_first_for_waiters(sigset_t* all) {
  siginfo_t info;
  for (int i = 4; i > 0; i--) queue(SIGRTMIN + i, 10 * i), queue(SIGRTMIN + i, 10 * i + 1);
  for (int i = 1; i <= 4; i++)
    for (int k = 0; k < 2; k++) {
      CHECK(sigwaitinfo(all, &info) == SIGRTMIN + i && info.si_value.sival_int == 10 * i + k);
      CHECK(info.si_code == SI_QUEUE && info.si_pid == getpid() && info.si_uid == getuid());
    }
  struct timespec soon = {0, 1000000};
  FAILS(sigtimedwait(all, &info, &soon), EAGAIN);
}

static void ordinary_once(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  count = 0;
  for (int i = 0; i < 5; i++) queue(SIGUSR1, i);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
  CHECK(count == 1 && seen[0][1] == 0);
}

/* The handler's mask blocks the other signals until it returns. */
static void masked_in_turn(sigset_t* all) {
  struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
  action.sa_mask = *all;
  for (int i = 1; i <= 4; i++) CHECK(sigaction(SIGRTMIN + i, &action, NULL) == 0);
  count = 0;
  for (int i = 4; i > 0; i--) queue(SIGRTMIN + i, i), queue(SIGRTMIN + i, i + 100);
  CHECK(sigprocmask(SIG_UNBLOCK, all, NULL) == 0);
  CHECK(count == 8);
  for (int i = 1; i <= 4; i++)
    CHECK(seen[2 * i - 2][0] == SIGRTMIN + i && seen[2 * i - 2][1] == i && seen[2 * i - 1][1] == i + 100);
}

static pthread_t main_thread;
static void* queues_to_main(void* arg) {
  for (int i = 0; i < 5; i++) CHECK(pthread_sigqueue(main_thread, SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
  return arg;
}

static void from_another_thread(sigset_t* all) {
  pthread_t thread;
  siginfo_t info;
  main_thread = pthread_self();
  CHECK(sigprocmask(SIG_BLOCK, all, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, queues_to_main, NULL) == 0);
  for (int i = 0; i < 5; i++) CHECK(sigwaitinfo(all, &info) == SIGRTMIN + 1 && info.si_value.sival_int == i);
  CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
  sigset_t all;
  sigemptyset(&all);
  for (int i = 1; i <= 4; i++) sigaddset(&all, SIGRTMIN + i), on_signal(SIGRTMIN + i, note, 0);
  on_signal(SIGUSR1, note, 0);
  CHECK(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
  same_number_in_order(&all);
  lower_first_for_waiters(&all);
  ordinary_once();
  masked_in_turn(&all);
  from_another_thread(&all);
  puts("queued in order");
  return 0;
}
