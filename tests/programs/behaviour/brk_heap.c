/* The program break, moved directly and by malloc. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  enum { kBlocks = 200 };
  void* blocks[kBlocks];
  setvbuf(stdout, NULL, _IONBF, 0);
  char* start = sbrk(0);
  printf("break %p\n", (void*)start);
  char* grown = sbrk(10000);
  memset(grown, 7, 10000);
  printf("grown by %ld, last byte %d\n", (long)((char*)sbrk(0) - start), grown[9999]);
  for (int i = 0; i < kBlocks; i++) blocks[i] = malloc(5000);
  printf("after malloc %p, last block %p\n", sbrk(0), blocks[kBlocks - 1]);
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  printf("after free %p\n", sbrk(0));
  return 0;
}
