/* Jobs that a terminal stops, as a shell sees it, whatever they are doing: jobs that compute, sleep, wait for a thread
 * or for input, and background jobs that read from the terminal or change its settings. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include "check.h"

static int master, terminal;
static volatile int* told; /* shared with the jobs */

static void* compute_until_told(void* unused) {
  volatile unsigned count = 0;
  (void)unused;
  while (*told == 0) count++;
  return NULL;
}

static void computes(void) { compute_until_told(NULL); }

static void computes_beside_a_waiting_thread(void) {
  pthread_t worker;
  CHECK(pthread_create(&worker, NULL, compute_until_told, NULL) == 0 && pthread_join(worker, NULL) == 0);
}

static void sleeps(void) {
  struct timespec time = {0, 300000000};
  CHECK(nanosleep(&time, NULL) == 0 && poll(NULL, 0, 100) == 0);
}

/* Reads the line "go". Returns how often a signal interrupted the read. */
static int reads_its_line(void) {
  char line[8];
  ssize_t got;
  int interrupted = 0;
  while ((got = read(terminal, line, sizeof line)) == -1 && errno == EINTR) interrupted++;
  CHECK(got == 3 && memcmp(line, "go\n", 3) == 0);
  return interrupted;
}

static void waits_for_input(void) { CHECK(reads_its_line() == 0); }

static volatile sig_atomic_t continued;
static void on_continue(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  continued++;
}

static void is_told_of_the_continuation(void) {
  on_signal(SIGCONT, on_continue, 0);
  CHECK(reads_its_line() > 0 && continued == 3);
}

/* Either thread may handle SIGCONT. */
static void is_told_beside_a_thread(void) {
  pthread_t worker;
  on_signal(SIGCONT, on_continue, 0);
  CHECK(pthread_create(&worker, NULL, compute_until_told, NULL) == 0);
  reads_its_line();
  CHECK(pthread_join(worker, NULL) == 0 && continued == 3);
}

static void changes_settings(void) {
  struct termios settings;
  CHECK(tcgetattr(terminal, &settings) == 0);
  CHECK(tcsetattr(terminal, TCSANOW, &settings) == 0);
}

static void changes_settings_beside_a_thread(void) {
  pthread_t worker;
  CHECK(pthread_create(&worker, NULL, compute_until_told, NULL) == 0);
  changes_settings();
  CHECK(pthread_join(worker, NULL) == 0);
}

static pid_t start_job(void (*job)(void), int in_foreground) {
  int ready[2];
  char byte;
  CHECK(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    if (in_foreground) CHECK(tcsetpgrp(terminal, getpgrp()) == 0);
    signal(SIGTTOU, SIG_DFL);
    CHECK(write(ready[1], "x", 1) == 1);
    job();
    _exit(7);
  }
  CHECK(read(ready[0], &byte, 1) == 1 && close(ready[0]) == 0 && close(ready[1]) == 0);
  return child;
}

static void expect_stop(pid_t job, int number) {
  int status;
  CHECK(waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status) && WSTOPSIG(status) == number);
  CHECK(waitpid(job, &status, WNOHANG | WUNTRACED) == 0);
}

static void expect_end(pid_t job) {
  int status = status_of(job);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* Ctrl-Z is typed several times to a job in the foreground. */
static void is_typed_at(void (*job)(void), const char* input) {
  *told = 0;
  pid_t child = start_job(job, 1);
  for (int i = 0; i < 3; i++) {
    usleep(20000);
    CHECK(write(master, "\032", 1) == 1);
    expect_stop(child, SIGTSTP);
    CHECK(kill(-child, SIGCONT) == 0);
  }
  *told = 1;
  CHECK(write(master, input, strlen(input)) == (ssize_t)strlen(input));
  expect_end(child);
}

/* A background job that uses the terminal stops. It can use the terminal once it is in the foreground. */
static void is_in_the_background(void (*job)(void), int number, const char* input) {
  *told = 0;
  CHECK(tcsetpgrp(terminal, getpgrp()) == 0);
  pid_t child = start_job(job, 0);
  for (int i = 0; i < 2; i++) {
    expect_stop(child, number);
    if (i == 1) CHECK(tcsetpgrp(terminal, child) == 0);
    CHECK(kill(-child, SIGCONT) == 0);
  }
  *told = 1;
  CHECK(write(master, input, strlen(input)) == (ssize_t)strlen(input));
  expect_end(child);
}

static void be_a_shell(void) {
  CHECK(setsid() > 0 && openpty(&master, &terminal, NULL, NULL, NULL) == 0 && ioctl(terminal, TIOCSCTTY, 0) == 0);
  signal(SIGTTOU, SIG_IGN);
  is_typed_at(computes, "");
  is_typed_at(computes_beside_a_waiting_thread, "");
  is_typed_at(sleeps, "");
  is_typed_at(waits_for_input, "go\n");
  is_typed_at(is_told_of_the_continuation, "go\n");
  is_typed_at(is_told_beside_a_thread, "go\n");
  is_in_the_background(waits_for_input, SIGTTIN, "go\n");
  is_in_the_background(changes_settings, SIGTTOU, "");
  is_in_the_background(changes_settings_beside_a_thread, SIGTTOU, "");
}

int main(void) {
  alarm(60);
  told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(told != MAP_FAILED);
  pid_t shell = fork();
  if (shell == 0) {
    alarm(50);
    be_a_shell();
    _exit(0);
  }
  expect_success(shell);
  puts("jobs stopped and continued");
  return 0;
}
