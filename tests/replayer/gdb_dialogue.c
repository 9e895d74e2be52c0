/* The target of the gdb dialogues (dialogues.json): one of each thing that people debug. Argument: a part, or all. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct point {
  int x, y;
};
int counter;
int* watched;
char name[32] = "first";
struct point origin = {3, 4};
static volatile sig_atomic_t signals;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int add(int a, int b) {
  int sum = a + b;
  return sum;
}
int bump(void) { return ++counter; }
char* make_name(const char* of) {
  char* made = malloc(100);
  snprintf(made, 100, "made of %s", of);
  return made;
}
void say(const char* what) {
  printf("said: %s\n", what);
  fflush(stdout);
}
void remove_file(void) { unlink("precious"); }
int same(const char* a, const char* b) { return strcmp(a, b) == 0; }
int fails(void) { return *(volatile int*)8; }
int ends(void) { exit(5); }
int waits(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
  return 1;
}
char* allocate_much(void) {
  char* much = malloc(1 << 20);
  memset(much, 'x', 1 << 20);
  return much;
}
static void on_signal(int number) { signals += number; }

static int loop(int rounds) {
  int total = 0;
  for (int i = 0; i < rounds; i++) {
    total = add(total, i);
    snprintf(name, sizeof name, "round %d", i);
  }
  return total;
}

static void raise_one(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  counter = 100;
}

static void* worker(void* argument) {
  pthread_mutex_lock(&lock);
  counter += *(int*)argument;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void threads(void) {
  pthread_t ids[2];
  int amounts[2] = {10, 20};
  for (int i = 0; i < 2; i++) pthread_create(&ids[i], NULL, worker, &amounts[i]);
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
}

static void children(void) {
  pid_t child = fork();
  if (child == 0) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  counter = WEXITSTATUS(status);
  child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", (char*)NULL);
    _exit(9);
  }
  waitpid(child, &status, 0);
}

int main(int argc, char** argv) {
  double half = 0.5;
  (void)argc;
  watched = &counter;
  counter = 1;
  int total = loop(3);
  counter = 2;
  say("hello");
  raise_one();
  threads();
  children();
  half *= total;
  counter = add(counter, (int)half);
  return counter == 0 || argv == NULL;
}
