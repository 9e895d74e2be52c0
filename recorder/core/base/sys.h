// Raw system calls and the few string functions of the core. Calls made here are in the core's own text, which Syscall
// User Dispatch lets through (Documentation/admin-guide/syscall-user-dispatch.rst).
#pragma once

#include <linux/errno.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace reweave::core {

inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// Any mix of integers and pointers as arguments.
template <typename... Args>
inline long sys(long number, Args... args) {
  return raw_syscall(number, (long)(args)...);  // NOLINT: the kernel's registers are untyped
}

// Nanoseconds of CLOCK_MONOTONIC.
inline long monotonic_now() {
  long time[2];
  sys(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, time);
  return time[0] * 1'000'000'000 + time[1];
}

inline bool is_error(long result) { return static_cast<unsigned long>(result) >= static_cast<unsigned long>(-4095); }

// Avoids a call of memcpy, which costs more than copying so few words.
template <std::size_t kWords, typename To, typename From>
inline void copy_words(To (&to)[kWords], const From (&from)[kWords]) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kWords; i++) to[i] = static_cast<To>(from[i]);
}

inline std::size_t string_length(const char* s) {
  std::size_t n = 0;
  while (s[n] != 0) n++;
  return n;
}
inline bool string_equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}
inline bool starts_with(const char* s, const char* prefix) {
  while (*prefix != 0 && *s == *prefix) s++, prefix++;
  return *prefix == 0;
}
// Copies at most room-1 characters and ends with NUL; returns the length copied.
inline std::size_t copy_string(char* to, std::size_t room, const char* from) {
  std::size_t n = 0;
  while (n + 1 < room && from[n] != 0) to[n] = from[n], n++;
  to[n] = 0;
  return n;
}
inline const char* base_name(const char* path) {
  const char* base = path;
  for (; *path != 0; path++)
    if (*path == '/') base = path + 1;
  return base;
}

}  // namespace reweave::core

extern "C" {
void* memcpy(void* to, const void* from, std::size_t n);
void* memmove(void* to, const void* from, std::size_t n);
void* memset(void* to, int value, std::size_t n);
int memcmp(const void* a, const void* b, std::size_t n);
}
