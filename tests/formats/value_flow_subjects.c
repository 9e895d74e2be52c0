// For each function, value_flow_test.cc says which of its instrumented reads decide nothing.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int x, y, flag, table[16];
double real;
struct Pair {
  int a;
  long b;
} pair, *shared_pair;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int (*chosen)(int);

void copies(void) { y = x; }
void adds_one(void) { x = x + 1; }
void adds_up(int n) { y += x * n; }
void adds_in_section(void) {
  pthread_mutex_lock(&lock);
  x++;
  pthread_mutex_unlock(&lock);
}
void copies_member(struct Pair* to, const struct Pair* from) { to->a = from->a; }
void copies_later(void) {
  int kept = x;
  pthread_mutex_lock(&lock);
  y = kept;
  pthread_mutex_unlock(&lock);
}
void chooses_value(void) { y = x & 1 ? 3 : 5; }
void reads_in_vain(void) {
  int seen = x;
  (void)seen;
}
void copies_double(void) { *(volatile double*)&pair = real; }
void sums(int n) {
  for (int i = 0; i < n; i++) y += table[i];
}

int returns_it(void) { return x; }
void branches(void) {
  if (x) y = 1;
}
void branches_later(void) {
  int seen = x;
  y = 4;
  if (seen > 3) flag = 1;
}
void indexes(void) { table[x & 15] = 1; }
void passes_it(void) { printf("%d\n", x); }
void loops(void) {
  for (int i = 0; i < x; i++) y = i;
}
void divides(int n) { y = n / x; }
void adds_doubles(void) { real = real + 1.5; }
void calls_it(void) { y = chosen(3); }
void leaves_to_callee(void) {
  int local = x;
  memcpy(&y, &local, sizeof local);
}
void writes_through(int** places) {
  int local[4] = {0, 0, 0, 0};
  local[y & 3] = x;
  if (local[1]) flag = 1;
  *places = 0;
}
void passes_many(int a) { printf("%d %d %d %d %d %d %d %d\n", a, a, a, a, a, a, a, x); }
void switches(void) {
  switch (x) {
    case 0:
      y = 4;
      break;
    case 1:
      y = 8;
      break;
    case 2:
      flag = 1;
      break;
    case 3:
      y = 3;
      break;
    case 4:
      table[2] = 7;
      break;
    case 5:
      table[3] = 1;
      break;
    case 6:
      table[4] = 5;
      break;
  }
}

void bumps(void) { __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST); }
void bumps_twice(void) {
  __atomic_fetch_or(&x, 1, __ATOMIC_RELAXED);
  y = 3;
  __atomic_fetch_sub((long*)&pair, 1, __ATOMIC_SEQ_CST);
}
void bumps_and_calls(int n) {
  __atomic_fetch_add(&x, n, __ATOMIC_SEQ_CST);
  puts("called");
}
int returns_old(void) { return __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST); }
void branches_on_old(void) {
  if (__atomic_fetch_sub(&x, 1, __ATOMIC_SEQ_CST) == 1) y = 1;
}
void stores_old(void) { y = __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST); }
void passes_old(void) { printf("%d\n", __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST)); }
void exchanges(void) { y = __atomic_exchange_n(&x, 1, __ATOMIC_SEQ_CST); }
