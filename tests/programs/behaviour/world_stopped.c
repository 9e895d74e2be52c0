/* Signals stop and resume threads that compute, as a garbage collector does. One thread also makes short system calls,
 * one sleeps sometimes, and one does neither. Then a timer interrupts the last one. The frames have no resume flag,
 * which the processor sets for faults only. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 20, TICKS = 10, RESUME_FLAG = 0x10000 };

static sem_t stopped;
static volatile int rounds, quit, running;
static volatile sig_atomic_t ticks, flagged;

static void on_stop(int signal, siginfo_t* info, void* raw) {
  const ucontext_t* context = raw;
  (void)signal, (void)info;
  if ((context->uc_mcontext.gregs[REG_EFL] & RESUME_FLAG) != 0) flagged = 1;
  const int now = rounds;
  sem_post(&stopped);
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGUSR2);
  while (rounds == now) sigsuspend(&others);
}

static void on_resume(int signal, siginfo_t* info, void* context) { (void)signal, (void)info, (void)context; }

static void on_tick(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  ticks++;
}

static void* work(void* argument) {
  const long me = (intptr_t)argument;
  char byte[1];
  static volatile unsigned long counts[THREADS];
  __atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
  while (!quit) {
    counts[me]++;
    for (volatile int i = 0; i < 2000; i++) {
    }
    if (me == 0 && read(-1, byte, 1) == 0) return NULL;
    if (me == 1) usleep(200);
  }
  return NULL;
}

static int catch_signal(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO};
  sigfillset(&action.sa_mask); /* includes SIGUSR2, which only sigsuspend may receive */
  return sigaction(number, &action, NULL);
}

static void stop_the_world(pthread_t* threads) {
  for (int i = 0; i < THREADS; i++) pthread_kill(threads[i], SIGUSR1);
  for (int i = 0; i < THREADS; i++) sem_wait(&stopped);
  rounds++;
  for (int i = 0; i < THREADS; i++) pthread_kill(threads[i], SIGUSR2);
  usleep(300);
}

static int compute_until_ticks(void) {
  const struct itimerspec each = {{0, 2000000}, {0, 2000000}};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &each, NULL) != 0) return 1;
  uint64_t x = 1;
  while (ticks < TICKS) x = x * 6364136223846793005u + 1442695040888963407u;
  timer_delete(timer);
  return x == 0;
}

int main(void) {
  pthread_t threads[THREADS];
  if (sem_init(&stopped, 0, 0) != 0) return 1;
  if (catch_signal(SIGUSR1, on_stop) || catch_signal(SIGUSR2, on_resume) || catch_signal(SIGALRM, on_tick)) return 1;
  for (long i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
  while (running < THREADS) usleep(100);
  for (int i = 0; i < ROUNDS; i++) stop_the_world(threads);
  quit = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  if (compute_until_ticks() != 0) return 1;
  printf("stopped %d times%s\n", rounds, flagged ? ", with the resume flag" : "");
  return flagged;
}
