/* Hand-over of a memory region by offer, acceptance and confirmation.
 *
 * Bug: the giver withdraws its offer without asking whether the taker already acted on the confirmation.
 * Shown by: giver offers, taker accepts, giver confirms, taker takes before the giver withdraws: exactly three
 * preemptions.
 * Idea: the depth of RegionOwnership, the deepest bug in the RankChecker paper; the protocol is ours.
 * Expected: assertion that the region has one owner (SIGABRT).
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int offered, accepted, confirmed;
static int taker_owns, giver_owns = 1;

static void* giver(void* arg) {
  (void)arg;
  atomic_store(&offered, 1);
  if (atomic_load(&accepted)) atomic_store(&confirmed, 1);
  /* The taker is too slow: keep the region. */
  atomic_store(&confirmed, 0);
  atomic_store(&offered, 0);
  return NULL;
}

static void* taker(void* arg) {
  (void)arg;
  if (atomic_load(&offered)) {
    atomic_store(&accepted, 1);
    if (atomic_load(&confirmed)) taker_owns = 1;
    atomic_store(&accepted, 0);
  }
  return NULL;
}

int main(void) {
  pthread_t g, t;
  pthread_create(&g, NULL, giver, NULL);
  pthread_create(&t, NULL, taker, NULL);
  pthread_join(g, NULL);
  pthread_join(t, NULL);
  assert(giver_owns + taker_owns == 1 && "the region has two owners");
  printf("owner: %s\n", taker_owns ? "taker" : "giver");
  return 0;
}
