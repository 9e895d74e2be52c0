/* Sorted set as a tree, with a lock around each operation, and a bulk operation that is not atomic.
 *
 * Bug: add_all() asks with one locked call whether an element is there and adds it with another.
 * Shown by: both threads find that an element is missing before either adds it.
 * Idea: the synchronised TreeSet wrapper of Java, in the RankChecker and Falcon papers.
 * Expected: assertion in add() that an element is added once (SIGABRT). Arguments: elements (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node *left, *right;
  int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node* root;
static int elements = 2;

static struct node** find(int value) {
  struct node** at = &root;
  while (*at != NULL && (*at)->value != value) at = value < (*at)->value ? &(*at)->left : &(*at)->right;
  return at;
}

static int contains(int value) {
  pthread_mutex_lock(&lock);
  int found = *find(value) != NULL;
  pthread_mutex_unlock(&lock);
  return found;
}

static void add(int value) {
  pthread_mutex_lock(&lock);
  struct node** at = find(value);
  assert(*at == NULL && "an element is added once");
  *at = calloc(1, sizeof **at);
  (*at)->value = value;
  pthread_mutex_unlock(&lock);
}

static void* add_all(void* arg) {
  (void)arg;
  for (int i = 0; i < elements; i++)
    if (!contains(i)) add(i);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) elements = atoi(argv[1]);
  pthread_t a, b;
  pthread_create(&a, NULL, add_all, NULL);
  pthread_create(&b, NULL, add_all, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  printf("%d elements\n", elements);
  return 0;
}
