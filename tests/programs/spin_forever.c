/* A thread spins on a flag that it can miss.
 *
 * Bug: the controller raises the flag and lowers it again without knowing that the spinner saw it. The flag is a pulse,
 * but the spinner waits for it as for a level.
 * Shown by: the spinner first checks the flag while it is down, and does not run while it is up.
 * Idea: ad-hoc synchronisation bugs as counted by studies of real programs.
 * Expected: hang: the spinner never ends.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int started, go;

static void* spinner(void* arg) {
  (void)arg;
  /* If the controller has not started yet, wait for the pulse. */
  if (!atomic_load(&started))
    while (!atomic_load(&go)) continue;
  return NULL;
}

static void* controller(void* arg) {
  (void)arg;
  atomic_store(&go, 1);
  atomic_store(&started, 1);
  atomic_store(&go, 0);
  return NULL;
}

int main(void) {
  pthread_t c, s;
  pthread_create(&c, NULL, controller, NULL);
  pthread_create(&s, NULL, spinner, NULL);
  pthread_join(c, NULL);
  pthread_join(s, NULL);
  printf("the spinner went on\n");
  return 0;
}
