/* Fast Fourier transform whose threads share the butterflies of each stage.
 *
 * Bug: each thread reads and writes the global id without a lock.
 * Shown by: two threads get the same id, so nobody computes the part of the other one.
 * Idea: FFT of SPLASH-2 without the lock of its global id, in the ColFinder paper; the code is ours.
 * Expected: message and exit status 1 (wrong spectrum). Arguments: threads (2), points (8, a power of 2).
 */
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16 };

static pthread_barrier_t stage_done;
static volatile int next_id;
static int threads = 2, points = 8;
static double complex* values;

static void butterfly(int at, int half) {
  const double complex turn = cexp(-I * M_PI * (at % half) / half);
  const double complex even = values[at], odd = values[at + half] * turn;
  values[at] = even + odd;
  values[at + half] = even - odd;
}

static void* transform(void* arg) {
  (void)arg;
  int me = next_id;
  next_id = me + 1; /* bug: another thread may have read the same id */
  for (int half = 1; half < points; half *= 2) {
    for (int i = me; i < points / 2; i += threads) butterfly(i / half * 2 * half + i % half, half);
    pthread_barrier_wait(&stage_done);
  }
  return NULL;
}

/* The input is one impulse, whose spectrum is 1 everywhere in absolute value. */
static int is_wrong(void) {
  for (int i = 0; i < points; i++)
    if (fabs(cabs(values[i]) - 1) > 1e-6) return 1;
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) points = atoi(argv[2]);
  values = calloc((size_t)points, sizeof *values);
  values[points / 2] = 1;
  pthread_t ids[kMostThreads];
  pthread_barrier_init(&stage_done, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, transform, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  if (is_wrong()) {
    fprintf(stderr, "wrong spectrum\n");
    return 1;
  }
  printf("transformed\n");
  return 0;
}
