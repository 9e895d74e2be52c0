// Exceptions pass through these functions.
#include <cstdio>

struct Closer {
  ~Closer() { std::puts("closed"); }
};

int x, y;

extern "C" void may_throw();

extern "C" void lives_across_call() {
  const int seen = x;
  try {
    may_throw();
    y = seen;
  } catch (...) {
    if (seen != 0) std::puts("seen");
  }
}

extern "C" void copies_before_call() {
  y = x;
  Closer closer;
  may_throw();
}

extern "C" void bumps_before_call() {
  __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);
  Closer closer;
  may_throw();
}

extern "C" void keeps_old_across_call() {
  const int old = __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);
  try {
    may_throw();
  } catch (...) {
    if (old != 0) std::puts("old");
  }
}
