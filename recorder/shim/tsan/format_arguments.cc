// Parses formats in general registers only. Only some runs do this work, so it must not change any other registers.
#include <cstdarg>
#include <cstdint>
#include <cwchar>

#pragma GCC target("general-regs-only")

#include "recorder/shim/tsan/format_arguments.h"
#include "recorder/shim/tsan/known_accesses.h"

namespace reweave::shim {

namespace {

// A va_list of the x86-64 ABI.
struct ListState {
  std::uint32_t general, vector;  // offsets in `saved` of the next argument of that class
  const std::uint8_t *stack, *saved;
};

// The arguments of a list, read without vector registers.
class Arguments {
 public:
  explicit Arguments(va_list list) : at_(*reinterpret_cast<const ListState*>(list)) {}

  std::uint64_t next() {
    constexpr std::uint32_t kEnd = 48;
    if (at_.general < kEnd) return word(at_.saved + take(at_.general, 8));
    at_.stack += 8;
    return word(at_.stack - 8);
  }

  void skip_double() {
    constexpr std::uint32_t kEnd = 176;
    if (at_.vector < kEnd)
      take(at_.vector, 16);
    else
      at_.stack += 8;
  }

  void skip_long_double() {
    at_.stack = reinterpret_cast<const std::uint8_t*>((address_of(at_.stack) + 15) / 16 * 16 + 16);
  }

 private:
  static std::uint64_t word(const std::uint8_t* at) { return *reinterpret_cast<const std::uint64_t*>(at); }
  static std::uint32_t take(std::uint32_t& offset, std::uint32_t bytes) {
    offset += bytes;
    return offset - bytes;
  }

  ListState at_;
};

enum class Size : std::uint8_t { kChar, kShort, kInt, kLong, kLongDouble };

constexpr std::uint64_t bytes_of(Size size) {
  constexpr std::uint64_t kBytes[] = {1, 2, 4, 8, 16};
  return kBytes[static_cast<int>(size)];
}

bool is_one_of(char c, const char* set) {
  for (; *set != 0; set++)
    if (*set == c) return true;
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A conversion, from its '%' on.
struct Conversion {
  bool has_limit = false, star_width = false, star_limit = false, suppressed = false, allocates = false;
  std::uint64_t width = 0, limit = 0;
  Size size = Size::kInt;
  char kind = 0;  // 0: unknown; also for numbered arguments
};

const char* read_number(const char* at, std::uint64_t& value) {
  for (value = 0; is_digit(*at); at++) value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  return at;
}

const char* read_size(const char* at, Size& size) {
  switch (*at) {
    case 'h':
      size = at[1] == 'h' ? Size::kChar : Size::kShort;
      return at + (at[1] == 'h' ? 2 : 1);
    case 'l':
      size = Size::kLong;
      return at + (at[1] == 'l' ? 2 : 1);
    case 'q':
    case 'j':
    case 'z':
    case 'Z':
    case 't':
      size = Size::kLong;
      return at + 1;
    case 'L':
      size = Size::kLongDouble;
      return at + 1;
    default:
      return at;
  }
}

// printf: flags, width, precision, size, kind. Returns the text after it.
const char* read_printed(const char* at, Conversion& out) {
  for (at++; is_one_of(*at, "-+ #0'I");) at++;
  out.star_width = *at == '*';
  at = out.star_width ? at + 1 : read_number(at, out.width);
  if (*at == '.') {
    out.has_limit = true;
    out.star_limit = *++at == '*';
    at = out.star_limit ? at + 1 : read_number(at, out.limit);
  }
  at = read_size(at, out.size);
  if (*at != 0) out.kind = *at++;
  return at;
}

// Skips the bracket of a set of characters.
const char* skip_set(const char* at) {
  if (*at == '^') at++;
  if (*at == ']') at++;
  while (*at != 0 && *at != ']') at++;
  return *at == 0 ? at : at + 1;
}

// scanf: *, width, m, size, kind.
const char* read_scanned(const char* at, Conversion& out) {
  out.suppressed = *++at == '*';
  if (out.suppressed) at++;
  at = read_number(at, out.width);
  out.allocates = *at == 'm';
  if (out.allocates) at++;
  at = read_size(at, out.size);
  if (*at != 0) out.kind = *at++;
  return out.kind == '[' ? skip_set(at) : at;
}

std::uint64_t string_bytes(const char* s, bool limited, std::uint64_t limit) {
  std::uint64_t n = 0;
  while ((!limited || n < limit) && s[n] != 0) n++;
  return !limited || n < limit ? n + 1 : n;
}

std::uint64_t wide_bytes(const wchar_t* s) {
  std::uint64_t n = 0;
  while (s[n] != 0) n++;
  return (n + 1) * sizeof(wchar_t);
}

void tell(EventKind kind, std::uint64_t place, std::uint64_t bytes, std::uint64_t pc) {
  known_access(kind, place, bytes, pc, true);
}

void tell_printed_string(const Conversion& conversion, std::uint64_t place, std::uint64_t pc) {
  if (!may_be_memory(place, 1)) return;  // (null)
  const bool wide = conversion.size == Size::kLong || conversion.kind == 'S';
  if (wide && conversion.has_limit) return;  // the limit counts bytes in another encoding
  tell(EventKind::kRead, place,
       wide ? wide_bytes(reinterpret_cast<const wchar_t*>(place))
            : string_bytes(reinterpret_cast<const char*>(place), conversion.has_limit, conversion.limit),
       pc);
}

void read_star_arguments(Arguments& arguments, Conversion& conversion) {
  if (conversion.star_width) arguments.next();
  if (!conversion.star_limit) return;
  const auto limit = static_cast<std::int32_t>(arguments.next());
  conversion.has_limit = limit >= 0;
  conversion.limit = static_cast<std::uint32_t>(limit);
}

// False: unknown conversion.
bool tell_printed_one(Conversion& conversion, Arguments& arguments, std::uint64_t pc) {
  read_star_arguments(arguments, conversion);
  if (is_one_of(conversion.kind, "diouxXcCpbB")) {
    arguments.next();
  } else if (is_one_of(conversion.kind, "eEfFgGaA")) {
    conversion.size == Size::kLongDouble ? arguments.skip_long_double() : arguments.skip_double();
  } else if (is_one_of(conversion.kind, "sS")) {
    tell_printed_string(conversion, arguments.next(), pc);
  } else if (conversion.kind == 'n') {
    tell(EventKind::kWrite, arguments.next(), bytes_of(conversion.size), pc);
  } else {
    return conversion.kind == '%' || conversion.kind == 'm';
  }
  return true;
}

std::uint64_t scanned_bytes(const Conversion& conversion, std::uint64_t place) {
  if (conversion.allocates) return sizeof(void*);
  const bool wide = conversion.size == Size::kLong || is_one_of(conversion.kind, "SC");
  if (is_one_of(conversion.kind, "cC"))
    return (conversion.width == 0 ? 1 : conversion.width) * (wide ? sizeof(wchar_t) : 1);
  if (is_one_of(conversion.kind, "sS["))
    return wide ? wide_bytes(reinterpret_cast<const wchar_t*>(place))
                : string_bytes(reinterpret_cast<const char*>(place), false, 0);
  if (is_one_of(conversion.kind, "eEfFgGaA")) return bytes_of(conversion.size);
  if (conversion.kind == 'p') return sizeof(void*);
  return bytes_of(conversion.size == Size::kLongDouble ? Size::kLong : conversion.size);
}

}  // namespace

void tell_printed(const char* format, va_list list, std::uint64_t pc) {
  tell(EventKind::kRead, address_of(format), string_bytes(format, false, 0), pc);
  Arguments arguments(list);
  for (const char* at = format; *at != 0;) {
    if (*at != '%') {
      at++;
      continue;
    }
    Conversion conversion;
    at = read_printed(at, conversion);
    if (!tell_printed_one(conversion, arguments, pc)) return;
  }
}

void tell_scanned(const char* format, va_list list, int result, std::uint64_t pc) {
  Arguments arguments(list);
  for (const char* at = format; *at != 0 && result > 0;) {
    if (*at != '%') {
      at++;
      continue;
    }
    Conversion conversion;
    at = read_scanned(at, conversion);
    if (conversion.kind == '%' || conversion.suppressed) continue;
    if (!is_one_of(conversion.kind, "diouxXnpcCsS[eEfFgGaA")) return;
    const std::uint64_t place = arguments.next();
    if (may_be_memory(place, 1)) tell(EventKind::kWrite, place, scanned_bytes(conversion, place), pc);
    if (conversion.kind != 'n') result--;
  }
}

}  // namespace reweave::shim
