/* A thread waits in pthread_once for the routine that another thread runs, and calls pthread_once in a handler
   meanwhile. The other thread ends inside the routine, so the waiting thread has to run it. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_once_t shared = PTHREAD_ONCE_INIT, of_handler = PTHREAD_ONCE_INIT;
static sem_t begun, handled;
static int rounds;

static void initialise(void) {
  if (++rounds == 2) return;
  sem_post(&begun);
  sem_wait(&handled);
  pthread_exit(NULL);
}

static void in_handler(void) { sem_post(&handled); }
static void on_signal(int number) {
  (void)number;
  pthread_once(&of_handler, in_handler);
}

static void* first(void* unused) {
  pthread_once(&shared, initialise);
  return unused;
}

static void* second(void* unused) {
  pthread_once(&shared, initialise);
  printf("rounds %d\n", rounds);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  signal(SIGUSR1, on_signal);
  sem_init(&begun, 0, 0);
  sem_init(&handled, 0, 0);
  pthread_create(&threads[0], NULL, first, NULL);
  sem_wait(&begun);
  pthread_create(&threads[1], NULL, second, NULL);
  usleep(20000); /* until it waits */
  pthread_kill(threads[1], SIGUSR1);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
