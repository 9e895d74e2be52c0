/* A program that requests an executable stack, as gcc does for nested functions: code on the stacks
 * of its first thread, of another and of a child. */
#include <pthread.h>
#include "check.h"

static int call_on_stack(void) {
  /* mov $42, %eax; ret */
  volatile unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
  int (*function)(void);
  void* address = (void*)code;
  memcpy(&function, &address, sizeof function);
  return function();
}

static void* thread(void* unused) {
  (void)unused;
  CHECK(call_on_stack() == 42);
  return NULL;
}

int main(void) {
  pthread_t other;
  CHECK(call_on_stack() == 42);
  CHECK(pthread_create(&other, NULL, thread, NULL) == 0 && pthread_join(other, NULL) == 0);
  pid_t child = fork();
  if (child == 0) {
    thread(NULL);
    _exit(0);
  }
  expect_success(child);
  puts("code on the stack was executed");
  return 0;
}
