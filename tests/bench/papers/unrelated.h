/* Work that has nothing to do with a program's bug: locked additions to a shared counter. It makes the small programs
   less trivial for a search, as the HaPSet paper did with its extracts. */
#include <pthread.h>

static pthread_mutex_t unrelated_lock = PTHREAD_MUTEX_INITIALIZER;
static int unrelated_total;

static void unrelated_work(void) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&unrelated_lock);
    unrelated_total += i;
    pthread_mutex_unlock(&unrelated_lock);
  }
}
