// mem* and str* as called by instrumented code: accesses that the compiler does not announce. Each is one schedule
// point, then its events, then the C library's function.
#include <cstdint>

#include "recorder/shim/real.h"
#include "recorder/shim/tsan/access.h"

namespace reweave::shim {

namespace {

using std::size_t;

Real<void*(void*, const void*, size_t)> real_memcpy = {"memcpy"};
Real<void*(void*, const void*, size_t)> real_memmove = {"memmove"};
Real<void*(void*, int, size_t)> real_memset = {"memset"};
Real<int(const void*, const void*, size_t)> real_memcmp = {"memcmp"};
Real<const void*(const void*, int, size_t)> real_memchr = {"memchr"};
Real<size_t(const char*)> real_strlen = {"strlen"};
Real<size_t(const char*, size_t)> real_strnlen = {"strnlen"};
Real<int(const char*, const char*)> real_strcmp = {"strcmp"};
Real<int(const char*, const char*, size_t)> real_strncmp = {"strncmp"};
Real<int(const char*, const char*)> real_strcasecmp = {"strcasecmp"};
Real<const char*(const char*, int)> real_strchr = {"strchr"};
Real<const char*(const char*, int)> real_strrchr = {"strrchr"};
Real<const char*(const char*, const char*)> real_strstr = {"strstr"};

void range_point(const void* place, size_t bytes, std::uint64_t pc, bool write) {
  point(OpKind::kAccess, place, pc, static_cast<std::uint32_t>(bytes), write ? 1 : 0);
}

bool wanted() { return tracing() || config().detect_now != 0; }

void reads(const void* place, size_t bytes, std::uint64_t pc, bool again = false) {
  if (wanted()) range_event(EventKind::kRead, place, bytes, pc, again);
}
void writes(const void* place, size_t bytes, std::uint64_t pc, bool again = false) {
  if (wanted()) range_event(EventKind::kWrite, place, bytes, pc, again);
}
void reads_string(const char* s, std::uint64_t pc, bool again = false) {
  if (wanted()) range_event(EventKind::kRead, s, real_strlen(s) + 1, pc, again);
}

// Bytes that a comparison of two strings reads: up to the first difference.
size_t compared(const char* a, const char* b, size_t limit) {
  size_t n = 0;
  while (n < limit && a[n] == b[n] && a[n] != 0) n++;
  return n < limit ? n + 1 : limit;
}

void reads_both(const char* a, const char* b, size_t limit, std::uint64_t pc) {
  if (!wanted()) return;
  const size_t n = compared(a, b, limit);
  range_event(EventKind::kRead, a, n, pc);
  range_event(EventKind::kRead, b, n, pc, true);
}

// Copies, as part of the schedule point of `range_point`. `again`: the point has events already.
void* move(void* to, const void* from, size_t bytes, std::uint64_t pc, bool again = false) {
  reads(from, bytes, pc, again);
  writes(to, bytes, pc, true);
  return real_memmove(to, from, bytes);
}

void* copy(void* to, const void* from, size_t bytes, std::uint64_t pc) {
  range_point(to, bytes, pc, true);
  return move(to, from, bytes, pc);
}

// Appends `length_of(from)` bytes of `from` and a null byte. Other threads may change both strings at the point, so
// their lengths are determined again after it.
template <typename LengthOf>
char* append(char* to, const char* from, std::uint64_t pc, const LengthOf& length_of) {
  range_point(to, real_strlen(to) + length_of(from) + 1, pc, true);
  const size_t length = real_strlen(to), added = length_of(from);
  reads(to, length + 1, pc);
  move(to + length, from, added, pc, true);
  writes(to + length + added, 1, pc, true);
  to[length + added] = 0;
  return to;
}

void* fill(void* to, int value, size_t bytes, std::uint64_t pc) {
  range_point(to, bytes, pc, true);
  writes(to, bytes, pc);
  return real_memset(to, value, bytes);
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT
using std::size_t;

REWEAVE_EXPORT void* __tsan_memcpy(void* to, const void* from, size_t n) { return copy(to, from, n, REWEAVE_CALLER); }
REWEAVE_EXPORT void* __tsan_memmove(void* to, const void* from, size_t n) { return copy(to, from, n, REWEAVE_CALLER); }
REWEAVE_EXPORT void* __tsan_memset(void* to, int value, size_t n) { return fill(to, value, n, REWEAVE_CALLER); }

REWEAVE_EXPORT void* memcpy(void* to, const void* from, size_t n) {
  range_point(to, n, REWEAVE_CALLER, true);
  reads(from, n, REWEAVE_CALLER);
  writes(to, n, REWEAVE_CALLER, true);
  return real_memcpy(to, from, n);
}
REWEAVE_EXPORT void* memmove(void* to, const void* from, size_t n) { return copy(to, from, n, REWEAVE_CALLER); }
REWEAVE_EXPORT void* memset(void* to, int value, size_t n) { return fill(to, value, n, REWEAVE_CALLER); }

REWEAVE_EXPORT int memcmp(const void* a, const void* b, size_t n) {
  range_point(a, n, REWEAVE_CALLER, false);
  reads(a, n, REWEAVE_CALLER);
  reads(b, n, REWEAVE_CALLER, true);
  return real_memcmp(a, b, n);
}
REWEAVE_EXPORT void* memchr(const void* s, int c, size_t n) {
  range_point(s, n, REWEAVE_CALLER, false);
  const void* found = real_memchr(s, c, n);
  reads(s, found == nullptr ? n : address_of(found) - address_of(s) + 1, REWEAVE_CALLER);
  return const_cast<void*>(found);
}
REWEAVE_EXPORT size_t strlen(const char* s) {
  range_point(s, 1, REWEAVE_CALLER, false);
  const size_t n = real_strlen(s);
  reads(s, n + 1, REWEAVE_CALLER);
  return n;
}
REWEAVE_EXPORT size_t strnlen(const char* s, size_t limit) {
  range_point(s, 1, REWEAVE_CALLER, false);
  const size_t n = real_strnlen(s, limit);
  reads(s, n < limit ? n + 1 : n, REWEAVE_CALLER);
  return n;
}
REWEAVE_EXPORT int strcmp(const char* a, const char* b) {
  range_point(a, 1, REWEAVE_CALLER, false);
  reads_both(a, b, SIZE_MAX, REWEAVE_CALLER);
  return real_strcmp(a, b);
}
REWEAVE_EXPORT int strncmp(const char* a, const char* b, size_t n) {
  range_point(a, 1, REWEAVE_CALLER, false);
  reads_both(a, b, n, REWEAVE_CALLER);
  return real_strncmp(a, b, n);
}
REWEAVE_EXPORT int strcasecmp(const char* a, const char* b) {
  range_point(a, 1, REWEAVE_CALLER, false);
  reads_string(a, REWEAVE_CALLER);
  reads_string(b, REWEAVE_CALLER, true);
  return real_strcasecmp(a, b);
}
REWEAVE_EXPORT char* strchr(const char* s, int c) {
  range_point(s, 1, REWEAVE_CALLER, false);
  const char* found = real_strchr(s, c);
  if (found != nullptr)
    reads(s, address_of(found) - address_of(s) + 1, REWEAVE_CALLER);
  else
    reads_string(s, REWEAVE_CALLER);
  return const_cast<char*>(found);
}
REWEAVE_EXPORT char* strrchr(const char* s, int c) {
  range_point(s, 1, REWEAVE_CALLER, false);
  reads_string(s, REWEAVE_CALLER);
  return const_cast<char*>(real_strrchr(s, c));
}
REWEAVE_EXPORT char* strstr(const char* s, const char* part) {
  range_point(s, 1, REWEAVE_CALLER, false);
  reads_string(s, REWEAVE_CALLER);
  reads_string(part, REWEAVE_CALLER, true);
  return const_cast<char*>(real_strstr(s, part));
}
REWEAVE_EXPORT char* strcpy(char* to, const char* from) {
  range_point(to, real_strlen(from) + 1, REWEAVE_CALLER, true);
  move(to, from, real_strlen(from) + 1, REWEAVE_CALLER);
  return to;
}
REWEAVE_EXPORT char* strncpy(char* to, const char* from, size_t n) {
  range_point(to, n, REWEAVE_CALLER, true);
  const size_t length = real_strnlen(from, n);
  move(to, from, length, REWEAVE_CALLER);
  writes(to + length, n - length, REWEAVE_CALLER, length != 0);
  real_memset(to + length, 0, n - length);
  return to;
}
REWEAVE_EXPORT char* strcat(char* to, const char* from) {
  return append(to, from, REWEAVE_CALLER, [](const char* s) { return real_strlen(s); });
}
REWEAVE_EXPORT char* strncat(char* to, const char* from, size_t n) {
  return append(to, from, REWEAVE_CALLER, [n](const char* s) { return real_strnlen(s, n); });
}
