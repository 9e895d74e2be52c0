/* The target of the debug adapter's test: two threads that take turns to add to a counter.
 * With an argument: one thread that calls a function often. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

struct pair {
  int number;
  const char* name;
};

int total;

static int add(int amount, struct pair label) {
  int before = total;
  int after = before + amount * label.number;
  total = after;
  sched_yield();
  return after;
}

static void* worker(void* argument) {
  struct pair label = {*(int*)argument, "worker"};
  int last = 0;
  for (int i = 1; i <= 3; i++) last += add(i, label);
  return last == 0 ? argument : NULL;
}

int spins;

static void spin_once(int number) {
  spins++;
  if (number % 10000 == 0) sched_yield();
}

int main(int argc, char** argv) {
  (void)argv;
  for (int i = 0; argc > 1 && i < 200000; i++) spin_once(i);
  if (argc > 1) return 0;
  pthread_t threads[2];
  int numbers[2] = {1, 10};
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, &numbers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("total %d\n", total);
  return 7;
}
