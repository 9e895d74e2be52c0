/* Singly linked list whose appends are not locked.
 *
 * Bug: append() walks to the last node and links the new one in two steps; two appends can find the same last node.
 * Shown by: A finds the last node, B appends to it, A links its node there: B's node is lost.
 * Idea: LinkedList of the RankChecker paper.
 * Expected: message and exit status 1 (nodes are missing). Arguments: threads (2), nodes each (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node* next;
  int value;
};

static struct node first;
static int each = 2;

static void append(int value) {
  struct node* fresh = calloc(1, sizeof *fresh);
  fresh->value = value;
  struct node* last = &first;
  while (last->next != NULL) last = last->next;
  last->next = fresh;
}

static void* appender(void* arg) {
  for (int i = 0; i < each; i++) append((int)(long)arg * each + i);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) each = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, appender, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  int nodes = 0;
  for (struct node* at = first.next; at != NULL; at = at->next) nodes++;
  if (nodes != threads * each) {
    fprintf(stderr, "%d of %d nodes\n", nodes, threads * each);
    return 1;
  }
  printf("%d nodes\n", nodes);
  return 0;
}
