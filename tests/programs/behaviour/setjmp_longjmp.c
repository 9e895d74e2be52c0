/* Non-local jumps within a thread, over several frames, while other threads do the same. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

static volatile int jumping = 1;

static void descend(int levels, jmp_buf* target, int value) {
  if (levels > 0) {
    descend(levels - 1, target, value);
    printf("never printed\n");
  } else if (jumping) {
    longjmp(*target, value);
  }
}

static void* jumper(void* arg) {
  jmp_buf target;
  volatile int jumps = 0;
  int value = setjmp(target);
  printf("thread %ld: setjmp gave %d\n", (long)arg, value);
  if (jumps < 4) {
    jumps++;
    descend(jumps, &target, jumps * 10);
  }
  return NULL;
}

int main(void) {
  pthread_t ids[2];
  for (long i = 0; i < 2; i++) pthread_create(&ids[i], NULL, jumper, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  jumper((void*)2L);
  return 0;
}
