/* Errors of futex calls for wrong operations, addresses and counts, and FUTEX_WAKE_OP with negative operands. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <time.h>
#include "check.h"

static int words[2];
static int* const misaligned = (int*)((char*)words + 1);
static int* const nowhere = (int*)16;
static int* const beyond = (int*)0x800000000000;

static long futex(int* word, int operation, long value, const void* time, int* second, long third) {
  return syscall(SYS_futex, word, operation, value, time, second, third);
}

static long wake_op(int operation, int operand, int comparison, int with) {
  return futex(words, FUTEX_WAKE_OP, 1, (void*)1, words + 1, FUTEX_OP(operation, operand, comparison, with));
}

static void addresses(void) {
  int* const closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FAILS(futex(misaligned, FUTEX_WAKE, 1, NULL, NULL, 0), EINVAL);
  FAILS(futex(words, FUTEX_REQUEUE, 1, (void*)1, misaligned, 0), EINVAL);
  FAILS(futex(words, FUTEX_REQUEUE, 1, (void*)1, nowhere, 0), EFAULT);
  FAILS(futex(words, FUTEX_CMP_REQUEUE, 1, (void*)1, closed, 0), EFAULT);
  FAILS(futex(closed, FUTEX_WAKE, 1, NULL, NULL, 0), EFAULT);
  CHECK(futex(closed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
  CHECK(futex(nowhere, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
  FAILS(futex(beyond, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), EFAULT);
}

static void operations(void) {
  const struct timespec at_once = {0, 0};
  FAILS(futex(words, 99, 0, NULL, NULL, 0), ENOSYS);
  FAILS(futex(words, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 0, &at_once, NULL, 0), ENOSYS);
  FAILS(futex(words, FUTEX_WAKE | FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 0), ENOSYS);
  FAILS(futex(words, FUTEX_LOCK_PI | FUTEX_CLOCK_REALTIME, 0, NULL, NULL, 0), ENOSYS);
  FAILS(futex(words, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &at_once, NULL, -1), ETIMEDOUT);
  FAILS(futex(words, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
  FAILS(futex(words, FUTEX_REQUEUE, -1, (void*)1, words + 1, 0), EINVAL);
  FAILS(futex(words, FUTEX_REQUEUE, 1, (void*)-1L, words + 1, 0), EINVAL);
  FAILS(futex(words, FUTEX_CMP_REQUEUE_PI, 1, NULL, words, 0), EINVAL);
}

int main(void) {
  addresses();
  operations();
  CHECK(wake_op(FUTEX_OP_SET, -5, FUTEX_OP_CMP_EQ, 0) == 0 && words[1] == -5);
  CHECK(wake_op(FUTEX_OP_ADD, -3, FUTEX_OP_CMP_LT, -4) == 0 && words[1] == -8);
  CHECK(wake_op(FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_GE, -2047) == 0 && words[1] == 8);
  puts("as the kernel says");
  return 0;
}
