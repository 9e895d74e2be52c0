/* Loader that keeps the current script in one global variable.
 *
 * Bug: load_script() sets the current script and compile() uses it later; nothing keeps another load from coming
 * between the two.
 * Shown by: a second thread loads another script between the two calls.
 * Idea: LoadScript, an atomicity violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: assertion that both scripts were compiled once (SIGABRT).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

struct script {
  int compiled;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct script scripts[2];
static struct script* current;

static void load_script(struct script* script) {
  pthread_mutex_lock(&lock);
  current = script;
  pthread_mutex_unlock(&lock);
}

static void compile(void) {
  pthread_mutex_lock(&lock);
  current->compiled++; /* bug: may be another thread's script */
  pthread_mutex_unlock(&lock);
}

static void* loader(void* arg) {
  unrelated_work();
  load_script(arg);
  compile();
  unrelated_work();
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, loader, &scripts[0]);
  pthread_create(&b, NULL, loader, &scripts[1]);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(scripts[0].compiled == 1 && scripts[1].compiled == 1);
  printf("compiled both\n");
  return 0;
}
