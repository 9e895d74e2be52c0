// The functions that the compiler calls by name even in freestanding code.
#include "recorder/core/base/sys.h"

namespace {

// Copies n bytes, where n is between sizeof(Word) and twice that. Reads all of them before writing any.
template <typename Word>
void* copy_ends(void* to, const void* from, std::size_t n) {
  Word first, last;
  __builtin_memcpy(&first, from, sizeof first);
  __builtin_memcpy(&last, static_cast<const char*>(from) + n - sizeof last, sizeof last);
  __builtin_memcpy(to, &first, sizeof first);
  __builtin_memcpy(static_cast<char*>(to) + n - sizeof last, &last, sizeof last);
  return to;
}

}  // namespace

extern "C" {

[[gnu::used]] void* memcpy(void* to, const void* from, std::size_t n) {
  // String instructions are slow to start.
  if (n == 1) return copy_ends<std::uint8_t>(to, from, n);
  if (n >= 4 && n <= 8) return copy_ends<std::uint32_t>(to, from, n);
  if (n >= 8 && n <= 16) return copy_ends<std::uint64_t>(to, from, n);
  void* start = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  return start;
}

[[gnu::used]] void* memmove(void* to, const void* from, std::size_t n) {
  auto* d = static_cast<unsigned char*>(to);
  const auto* s = static_cast<const unsigned char*>(from);
  if (d <= s || d >= s + n) return memcpy(to, from, n);
  // Processors run a descending `rep movsb` byte by byte, which made up most of the cost of mmap with many mappings.
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  while (n >= 4 * kWord) {
    n -= 4 * kWord;
    std::uint64_t words[4];
    __builtin_memcpy(words, s + n, sizeof words);
    asm volatile("" : "+m"(words));  // read everything before writing anything
    __builtin_memcpy(d + n, words, sizeof words);
  }
  while (n > 0) {
    n--;
    d[n] = s[n];
    asm volatile("" : : : "memory");  // keeps the compiler from turning the loop into a call of this function
  }
  return to;
}

[[gnu::used]] void* memset(void* to, int value, std::size_t n) {
  void* start = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
  return start;
}

[[gnu::used]] int memcmp(const void* a, const void* b, std::size_t n) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < n; i++)
    if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}

void __cxa_pure_virtual() { __builtin_trap(); }
}
