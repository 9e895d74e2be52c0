/* Prints addresses of all kinds and walks a hash table keyed by pointers, whose order depends on them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static int global;

static void* thread(void* arg) {
  int local = 0;
  void* block = malloc(100);
  printf("thread: stack %p heap %p\n", (void*)&local, block);
  free(block);
  return arg;
}

int main(void) {
  enum { kBlocks = 12, kBuckets = 16 };
  int local = 0;
  void* blocks[kBlocks];
  pthread_t t;
  printf("global %p code %p libc %p stack %p\n", (void*)&global, (void*)(uintptr_t)&main, (void*)(uintptr_t)&printf,
         (void*)&local);
  printf("mmap %p\n", mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  void* large = malloc(1 << 20);
  printf("large block %p\n", large);
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  for (int i = 0; i < kBlocks; i++) blocks[i] = malloc((size_t)i * 24 + 1);
  for (uintptr_t bucket = 0; bucket < kBuckets; bucket++)
    for (int i = 0; i < kBlocks; i++)
      if ((((uintptr_t)blocks[i] * 0x9E3779B97F4A7C15u) >> 60) == bucket)
        printf("bucket %d: block %d\n", (int)bucket, i);
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  free(large);
  return 0;
}
