// printf, scanf and related functions: the arguments that they read or write follow from the format. Accesses are
// reported after the call has returned (for printf, before the call). Arguments after an unknown conversion are not
// reported.
#include <cstdarg>
#include <cstdint>

#include "recorder/shim/real.h"
#include "recorder/shim/tsan/format_arguments.h"
#include "recorder/shim/tsan/known_accesses.h"

// <cstdio> is not included, because it declares other symbols for scanf.
using File = struct _IO_FILE;
extern "C" File *stdin, *stdout;

namespace reweave::shim {

namespace {

using std::size_t;

Real<int(File*, const char*, va_list)> real_vfprintf = {"vfprintf"}, real_vfscanf = {"vfscanf"},
                                       real_vfscanf_99 = {"__isoc99_vfscanf"};
Real<int(const char*, const char*, va_list)> real_vsscanf = {"vsscanf"}, real_vsscanf_99 = {"__isoc99_vsscanf"};
Real<int(char*, const char*, va_list)> real_vsprintf = {"vsprintf"};
Real<int(char*, size_t, const char*, va_list)> real_vsnprintf = {"vsnprintf"};
Real<int(char**, const char*, va_list)> real_vasprintf = {"vasprintf"};
Real<int(File*, int, const char*, va_list)> real_vfprintf_chk = {"__vfprintf_chk"};
Real<int(char*, int, size_t, const char*, va_list)> real_vsprintf_chk = {"__vsprintf_chk"};
Real<int(char*, size_t, int, size_t, const char*, va_list)> real_vsnprintf_chk = {"__vsnprintf_chk"};

void before_printf(const void* place, bool write, const char* format, va_list list, std::uint64_t pc) {
  known_point(place, 1, write, pc);
  if (accesses_wanted()) tell_printed(format, list, pc);
}

// A result is the length of the text; the buffer may have been smaller.
int wrote_text(int result, const char* to, size_t room, std::uint64_t pc) {
  if (result < 0 || room == 0 || !accesses_wanted()) return result;
  const size_t length = static_cast<size_t>(result) + 1;
  range_event(EventKind::kWrite, to, length < room ? length : room, pc, true);
  return result;
}

template <typename From>
int scan(Real<int(From, const char*, va_list)>& real, From from, const char* format, va_list list, std::uint64_t pc) {
  known_point(format, 1, false, pc);
  va_list again;
  va_copy(again, list);
  const int result = real(from, format, list);
  if (accesses_wanted()) tell_scanned(format, again, result, pc);
  va_end(again);
  return result;
}

}  // namespace

}  // namespace reweave::shim

using namespace reweave;        // NOLINT: interposed functions are global
using namespace reweave::shim;  // NOLINT
using std::size_t;

// The last named parameter is `format`; `result` is the result of the form with a va_list.
#define VARIADIC(result)                   \
  va_list list;                            \
  va_start(list, format);                  \
  const std::uint64_t pc = REWEAVE_CALLER; \
  const int value = result;                \
  va_end(list);                            \
  return value;

namespace {

int print(File* file, const char* format, va_list list, std::uint64_t pc) {
  before_printf(format, false, format, list, pc);
  return real_vfprintf(file, format, list);
}
int print_to(char* to, const char* format, va_list list, std::uint64_t pc) {
  before_printf(to, true, format, list, pc);
  return wrote_text(real_vsprintf(to, format, list), to, SIZE_MAX, pc);
}
int print_to_at_most(char* to, size_t room, const char* format, va_list list, std::uint64_t pc) {
  before_printf(to, true, format, list, pc);
  return wrote_text(real_vsnprintf(to, room, format, list), to, room, pc);
}
int print_to_new(char** to, const char* format, va_list list, std::uint64_t pc) {
  before_printf(to, true, format, list, pc);
  const int result = real_vasprintf(to, format, list);
  if (result >= 0 && accesses_wanted()) range_event(EventKind::kWrite, to, sizeof *to, pc, true);
  return result;
}
int print_checked(File* file, int flag, const char* format, va_list list, std::uint64_t pc) {
  before_printf(format, false, format, list, pc);
  return real_vfprintf_chk(file, flag, format, list);
}
int print_to_checked(char* to, int flag, size_t room, const char* format, va_list list, std::uint64_t pc) {
  before_printf(to, true, format, list, pc);
  return wrote_text(real_vsprintf_chk(to, flag, room, format, list), to, room, pc);
}
int print_to_at_most_checked(char* to, size_t limit, int flag, size_t room, const char* format, va_list list,
                             std::uint64_t pc) {
  before_printf(to, true, format, list, pc);
  return wrote_text(real_vsnprintf_chk(to, limit, flag, room, format, list), to, limit, pc);
}

}  // namespace

#define PRINT_FUNCTIONS(prefix)                                                                                       \
  REWEAVE_EXPORT int prefix##printf(const char* format, ...){VARIADIC(                                                \
      print(stdout, format, list, pc))} REWEAVE_EXPORT int prefix##fprintf(File* file, const char* format, ...){      \
      VARIADIC(print(file, format, list, pc))} REWEAVE_EXPORT int prefix##sprintf(char* to, const char* format, ...){ \
      VARIADIC(print_to(to, format, list, pc))} REWEAVE_EXPORT int prefix##snprintf(char* to, size_t room,            \
                                                                                    const char* format, ...){         \
      VARIADIC(print_to_at_most(to, room, format, list, pc))} REWEAVE_EXPORT int prefix##vprintf(const char* format,  \
                                                                                                 va_list list) {      \
    return print(stdout, format, list, REWEAVE_CALLER);                                                               \
  }                                                                                                                   \
  REWEAVE_EXPORT int prefix##vfprintf(File* file, const char* format, va_list list) {                                 \
    return print(file, format, list, REWEAVE_CALLER);                                                                 \
  }                                                                                                                   \
  REWEAVE_EXPORT int prefix##vsprintf(char* to, const char* format, va_list list) {                                   \
    return print_to(to, format, list, REWEAVE_CALLER);                                                                \
  }                                                                                                                   \
  REWEAVE_EXPORT int prefix##vsnprintf(char* to, size_t room, const char* format, va_list list) {                     \
    return print_to_at_most(to, room, format, list, REWEAVE_CALLER);                                                  \
  }
PRINT_FUNCTIONS()
PRINT_FUNCTIONS(__isoc99_)

REWEAVE_EXPORT int asprintf(char** to, const char* format,
                            ...){VARIADIC(print_to_new(to, format, list, pc))} REWEAVE_EXPORT
    int vasprintf(char** to, const char* format, va_list list) {
  return print_to_new(to, format, list, REWEAVE_CALLER);
}
REWEAVE_EXPORT int __fprintf_chk(File* file, int flag, const char* format,
                                 ...){VARIADIC(print_checked(file, flag, format, list, pc))} REWEAVE_EXPORT
    int __sprintf_chk(char* to, int flag, size_t room, const char* format,
                      ...){VARIADIC(print_to_checked(to, flag, room, format, list, pc))} REWEAVE_EXPORT
    int __vsprintf_chk(char* to, int flag, size_t room, const char* format, va_list list) {
  return print_to_checked(to, flag, room, format, list, REWEAVE_CALLER);
}
REWEAVE_EXPORT int __snprintf_chk(char* to, size_t limit, int flag, size_t room, const char* format, ...){
    VARIADIC(print_to_at_most_checked(to, limit, flag, room, format, list, pc))} REWEAVE_EXPORT
    int __vsnprintf_chk(char* to, size_t limit, int flag, size_t room, const char* format, va_list list) {
  return print_to_at_most_checked(to, limit, flag, room, format, list, REWEAVE_CALLER);
}

// A header may define `scanf` as __isoc99_scanf; these are the plain symbols.
#define SYMBOL(symbol, parameters)                             \
  REWEAVE_EXPORT int reweave_##symbol parameters asm(#symbol); \
  REWEAVE_EXPORT int reweave_##symbol parameters

// Whether %as means a number or a new string depends on the language version that the program was compiled for.
#define SCAN_FUNCTIONS(prefix, suffix)                                                                                \
  SYMBOL(prefix##vfscanf, (File * file, const char* format, va_list list)) {                                          \
    return scan(real_vfscanf##suffix, file, format, list, REWEAVE_CALLER);                                            \
  }                                                                                                                   \
  SYMBOL(prefix##vscanf, (const char* format, va_list list)) {                                                        \
    return scan(real_vfscanf##suffix, stdin, format, list, REWEAVE_CALLER);                                           \
  }                                                                                                                   \
  SYMBOL(prefix##vsscanf, (const char* from, const char* format, va_list list)) {                                     \
    return scan(real_vsscanf##suffix, from, format, list, REWEAVE_CALLER);                                            \
  }                                                                                                                   \
  SYMBOL(prefix##fscanf, (File * file, const char* format, ...)){                                                     \
      VARIADIC(scan(real_vfscanf##suffix, file, format, list, pc))} SYMBOL(prefix##scanf, (const char* format, ...)){ \
      VARIADIC(scan(real_vfscanf##suffix, stdin, format, list,                                                        \
                    pc))} SYMBOL(prefix##sscanf, (const char* from, const char* format, ...)) {                       \
    VARIADIC(scan(real_vsscanf##suffix, from, format, list, pc))                                                      \
  }
SCAN_FUNCTIONS(, )
SCAN_FUNCTIONS(__isoc99_, _99)
