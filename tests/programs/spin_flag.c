/* Correct: a thread spins on a flag until another sets it. A fair tool must let it end.
 *
 * With the argument `volatile` the flag is a plain volatile int, which on this machine works too but is a data race.
 * Expected: passes under every fair schedule; a scheduler that never leaves the spinning thread hangs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int atomic_flag_;
static volatile int volatile_flag;
static int use_volatile;
static int payload;

static void* setter(void* arg) {
  (void)arg;
  payload = 7;
  if (use_volatile)
    volatile_flag = 1;
  else
    atomic_store(&atomic_flag_, 1);
  return NULL;
}

int main(int argc, char** argv) {
  use_volatile = argc > 1 && strcmp(argv[1], "volatile") == 0;
  pthread_t s;
  pthread_create(&s, NULL, setter, NULL);
  if (use_volatile)
    while (!volatile_flag) continue;
  else
    while (!atomic_load(&atomic_flag_)) continue;
  printf("payload %d\n", payload);
  pthread_join(s, NULL);
  return payload == 7 ? 0 : 1;
}
