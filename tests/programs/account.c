/* Transfers between accounts that lock only the account they start from.
 *
 * Bug: the other account's balance is changed without its lock.
 * Shown by: a preemption inside of the unprotected addition, while the owner of that account transfers.
 * Idea: Account of the RankChecker and Falcon papers.
 * Expected: assertion on the sum of money (SIGABRT).
 * Arguments: transfers per thread (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  volatile int money;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};
static int transfers = 1;

static void transfer(struct account* from, struct account* to, int amount) {
  pthread_mutex_lock(&from->lock);
  from->money = from->money - amount;
  to->money = to->money + amount;
  pthread_mutex_unlock(&from->lock);
}

static void* owner(void* arg) {
  int me = (int)(long)arg;
  for (int i = 0; i < transfers; i++) transfer(&accounts[me], &accounts[1 - me], 10 + me);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) transfers = atoi(argv[1]);
  pthread_t ids[2];
  for (long i = 0; i < 2; i++) pthread_create(&ids[i], NULL, owner, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  assert(accounts[0].money + accounts[1].money == 200 && "money was lost or made");
  printf("accounts %d %d\n", accounts[0].money, accounts[1].money);
  return 0;
}
