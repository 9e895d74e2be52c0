/* Processes that corrupt their own memory in different ways. They die of a signal, or the C library detects it. */
#include <sys/resource.h>

#include "check.h"

static void wild_write(void) { *(volatile int*)(uintptr_t)0x123456789000 = 1; }
static void wild_jump(void) { ((void (*)(void))(uintptr_t)0x10)(); }
static void smashed_heap(void) {
  char* block = malloc(40);
  memset(block, 0x41, 200);
  free(block);
  for (int i = 0; i < 100; i++) free(malloc(40 + (size_t)i * 16));
  abort();
}
static __attribute__((noinline)) void smashed_stack(void) {
  volatile char* here = __builtin_frame_address(0);
  for (int i = 0; i < 512; i++) here[i] = 0x41;
}
static void code_write(void) { *(volatile char*)(uintptr_t)&wild_write = 0; }
static void runtime_write(void) { *(volatile char*)(uintptr_t)0x600000001000 = 0; }

int main(void) {
  void (*const ways[])(void) = {wild_write, wild_jump, smashed_heap, smashed_stack, code_write, runtime_write};
  struct rlimit core = {0, 0};
  CHECK(setrlimit(RLIMIT_CORE, &core) == 0);
  close(2); /* the C library's message does not matter */
  for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    pid_t child = fork();
    if (child == 0) {
      ways[i]();
      _exit(0);
    }
    int status = status_of(child);
    CHECK(WIFSIGNALED(status));
    printf("way %u: signal %d\n", i, WTERMSIG(status));
    fflush(stdout);
  }
  return 0;
}
