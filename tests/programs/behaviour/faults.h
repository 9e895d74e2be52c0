/* For programs that look at what memory lets them do. */
#pragma once
#include <setjmp.h>

#include "check.h"

enum { kPage = 4096 };

static sigjmp_buf fault_resume;

static inline void on_fault(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  siglongjmp(fault_resume, number);
}

static inline void catch_faults(void) {
  on_signal(SIGSEGV, on_fault, 0);
  on_signal(SIGBUS, on_fault, 0);
}

/* 0, or the signal that reading the byte causes. */
static inline int fault_at(volatile const char* byte) {
  int number = sigsetjmp(fault_resume, 1);
  if (number == 0) (void)*byte;
  return number;
}

static inline int can_write(volatile char* byte) {
  if (sigsetjmp(fault_resume, 1) != 0) return 0;
  *byte = 1;
  return 1;
}
