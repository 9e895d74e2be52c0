/* Functions that return the signal of the fault if touching memory faults, else 0. main calls catch_faults first. */
#pragma once
#include <setjmp.h>

#include "check.h"

static sigjmp_buf before_fault;

static void leave_fault(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  siglongjmp(before_fault, number);
}

static inline void catch_faults(void) {
  on_signal(SIGSEGV, leave_fault, 0);
  on_signal(SIGBUS, leave_fault, 0);
}

static inline int faults(volatile char* p) {
  int number = sigsetjmp(before_fault, 1);
  if (number == 0) (void)*p;
  return number;
}

static inline int faults_when_written(volatile char* p) {
  int number = sigsetjmp(before_fault, 1);
  if (number == 0) *p = 1;
  return number;
}
