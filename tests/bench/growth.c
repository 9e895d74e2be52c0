// growth WHAT NUMBER: creates NUMBER objects of one kind. `scripts/bench growth` measures the curves.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

static void calls(long n) {
  for (long i = 0; i < n; i++) syscall(SYS_getppid);
}

static void output(long bytes) {
  char block[4096];
  for (unsigned i = 0; i < sizeof block; i++) block[i] = (char)('a' + (i * 7919u >> 3) % 26u);
  for (long left = bytes; left > 0; left -= (long)sizeof block)
    check(write(1, block, sizeof block) == (ssize_t)sizeof block, "write");
}

// Neighbouring pages differ in protection, so that the kernel does not merge their mappings.
static void mappings(long n) {
  char* place = mmap(NULL, (size_t)n * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(place != MAP_FAILED, "mmap");
  for (long i = 0; i < n; i += 2)
    check(mmap(place + i * 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
              MAP_FAILED,
          "mmap");
}

static pthread_attr_t small_stack;

static void* nothing(void* unused) { return unused; }

static void threads_created(long n) {
  for (long i = 0; i < n; i++) {
    pthread_t thread;
    check(pthread_create(&thread, &small_stack, nothing, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
  }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_over;

static void* wait_for_end(void* unused) {
  pthread_mutex_lock(&lock);
  while (!is_over) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void run_threads(long n, void* (*routine)(void*), void* argument) {
  pthread_t* threads = calloc((size_t)n, sizeof *threads);
  for (long i = 0; i < n; i++)
    check(pthread_create(&threads[i], &small_stack, routine, argument) == 0, "pthread_create");
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (long i = 0; i < n; i++) pthread_join(threads[i], NULL);
  free(threads);
}

static void threads_alive(long n) { run_threads(n, wait_for_end, NULL); }

static void processes(long n) {
  for (long i = 0; i < n; i++) {
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) _exit(0);
    check(waitpid(child, NULL, 0) == child, "waitpid");
  }
}

// Each child waits for end of file on a pipe, which comes when the parent closes the write end.
static void processes_alive(long n) {
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  for (long i = 0; i < n; i++) {
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child != 0) continue;
    char byte;
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(ends[1]);
  for (long i = 0; i < n; i++) check(wait(NULL) > 0, "wait");
}

// `turns` is per thread. locks() chooses it so that all threads together take the lock 40,000 times.
static void* yield_with_lock(void* turns) {
  static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  for (long i = *(const long*)turns; i > 0; i--) {
    pthread_mutex_lock(&held);
    sched_yield();
    pthread_mutex_unlock(&held);
  }
  return NULL;
}

static void locks(long threads) {
  long turns = 40000 / threads;
  run_threads(threads, yield_with_lock, &turns);
}

static volatile sig_atomic_t handled;
static void handle(int signal) { handled += signal != 0; }

static void signals(long n) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGUSR1, &action, NULL);
  for (long i = 0; i < n; i++) kill(getpid(), SIGUSR1);
  check(handled == n, "signals");
}

static void sleeping(long seconds) {
  struct timespec time = {seconds, 0};
  nanosleep(&time, NULL);
}

static const struct {
  const char* name;
  void (*run)(long);
} kinds[] = {{"calls", calls},
             {"output", output},
             {"mappings", mappings},
             {"threads", threads_created},
             {"threads-alive", threads_alive},
             {"processes", processes},
             {"processes-alive", processes_alive},
             {"locks", locks},
             {"signals", signals},
             {"sleeping", sleeping}};

int main(int count, char** arguments) {
  check(count == 3, "growth WHAT NUMBER");
  struct rlimit limit;
  getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NPROC, &limit);
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, 64 << 10);
  for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kinds[i].name, arguments[1]) != 0) continue;
    kinds[i].run(atol(arguments[2]));
    return 0;
  }
  return 2;
}
