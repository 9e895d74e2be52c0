// Reports the accesses of a row of library_calls.inc. In general registers only, because vector registers hold the
// caller's arguments and results.
#include <regex.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>

#pragma GCC target("general-regs-only")

#include "recorder/shim/tsan/known_accesses.h"
#include "recorder/shim/tsan/library_access.h"

namespace reweave::shim {

namespace {

// As pushed by the functions of library_calls.cc.
struct LibraryFrame {
  std::uint64_t arguments[6];
  std::uint64_t rax;  // number of vector registers with arguments; around a call: the length that a socket address had
  std::uint64_t caller;
};

std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

std::uint64_t letters(const char* s, std::uint64_t limit) {
  std::uint64_t n = 0;
  while (n < limit && s[n] != 0) n++;
  return n < limit ? n + 1 : limit;
}

std::uint64_t wide_string_bytes(const wchar_t* s) {
  std::uint64_t n = 0;
  while (s[n] != 0) n++;
  return (n + 1) * sizeof(wchar_t);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; }

std::uint64_t same_letter_bytes(const char* a, const char* b, std::uint64_t limit) {
  std::uint64_t n = 0;
  while (n < limit && lower(a[n]) == lower(b[n]) && a[n] != 0) n++;
  return n < limit ? n + 1 : limit;
}

std::uint64_t length_of(const LibraryAccess& access, const LibraryFrame& frame, std::uint64_t result) {
  const std::uint64_t place = frame.arguments[access.argument], a = frame.arguments[access.a];
  const auto signed_result = static_cast<std::int64_t>(result);
  switch (access.length) {
    case Length::kBytes:
      return access.bytes;
    case Length::kArgument:
      return a;
    case Length::kArgument32:
      return static_cast<std::uint32_t>(a);
    case Length::kArgumentTimes:
      return a * access.bytes;
    case Length::kProduct:
      return a * frame.arguments[access.b];
    case Length::kResult:
      return signed_result <= 0 ? 0 : least(result, a);
    case Length::kResultTimes:
      return static_cast<std::int32_t>(result) <= 0 ? 0
                                                    : static_cast<std::uint32_t>(result) * std::uint64_t{access.bytes};
    case Length::kResultUnits:
      return result * a;
    case Length::kResultPlus:
      return (result + access.a) * access.bytes;
    case Length::kResultUnitsCut:
      return least(result + 1, a) * access.bytes;
    case Length::kPastResult:
      return result - place + 1;
    case Length::kUpToResult:
      return result - place;
    case Length::kString:
      return letters(reinterpret_cast<const char*>(place), ~std::uint64_t{0});
    case Length::kStringOf:
      return letters(reinterpret_cast<const char*>(place), a);
    case Length::kWideString:
      return wide_string_bytes(reinterpret_cast<const wchar_t*>(place));
    case Length::kSameLetters:
      return same_letter_bytes(reinterpret_cast<const char*>(place), reinterpret_cast<const char*>(a),
                               frame.arguments[access.b]);
    case Length::kPatternText:
      return (a & REG_STARTEND) != 0 ? 0 : letters(reinterpret_cast<const char*>(place), ~std::uint64_t{0});
    case Length::kVector:
      return static_cast<std::uint32_t>(a) * sizeof(iovec);
    case Length::kSocketLength:
      return least(*reinterpret_cast<const std::uint32_t*>(a), frame.rax);
  }
  return 0;
}

bool happened(Condition condition, std::uint64_t result) {
  const auto low = static_cast<std::int32_t>(result);
  switch (condition) {
    case Condition::kAlways:
      return true;
    case Condition::kNotMinusOne:
      return low != -1;
    case Condition::kZero:
      return low == 0;
    case Condition::kPositive:
      return low > 0;
    case Condition::kNotNull:
      return result != 0;
  }
  return false;
}

// Reports the accesses of one call; the call's schedule point belongs to the first.
class Teller {
 public:
  Teller(std::uint64_t pc, bool again) : pc_(pc), again_(again) {}

  void tell(std::uint64_t place, std::uint64_t length, bool write, std::uint8_t marks = 0) {
    known_access(write ? EventKind::kWrite : EventKind::kRead, place, length, pc_, again_, marks);
    again_ = true;
  }

  void tell_parts(const iovec* parts, std::uint64_t count, std::uint64_t limit, bool write) {
    if (!may_be_memory(address_of(parts), 1)) return;
    for (std::uint64_t i = 0; i < count && limit != 0; i++) {
      const std::uint64_t length = least(parts[i].iov_len, limit);
      tell(address_of(parts[i].iov_base), length, write);
      limit -= length;
    }
  }

 private:
  std::uint64_t pc_;
  bool again_;
};

void tell(Teller& teller, const LibraryAccess& access, const LibraryFrame& frame, std::uint64_t result) {
  const std::uint64_t place = frame.arguments[access.argument];
  if (place == 0) return;
  if (access.target == Target::kPlace)
    return teller.tell(place, length_of(access, frame, result), access.write, access.marks);
  const bool all = access.length == Length::kBytes;
  const std::uint64_t limit = all ? ~std::uint64_t{0} : static_cast<std::int64_t>(result) <= 0 ? 0 : result;
  if (!may_be_memory(place, 1)) return;
  if (access.target == Target::kVectorParts)
    return teller.tell_parts(reinterpret_cast<const iovec*>(place),
                             static_cast<std::uint32_t>(frame.arguments[access.a]), limit, access.write);
  const auto& message = *reinterpret_cast<const msghdr*>(place);
  teller.tell_parts(message.msg_iov, message.msg_iovlen, limit, access.write);
}

}  // namespace

extern "C" [[gnu::visibility("hidden"), gnu::used]] void reweave_before_call(const LibraryCall& call,
                                                                             LibraryFrame& frame) {
  const LibraryAccess& first = call.accesses[0];
  known_point(reinterpret_cast<const void*>(frame.arguments[first.argument]), first.bytes, first.write, frame.caller);
  if (!accesses_wanted()) return;
  Teller teller(frame.caller, false);
  for (std::uint32_t i = 0; i < call.count; i++) {
    const LibraryAccess& access = call.accesses[i];
    if (access.length == Length::kSocketLength && may_be_memory(frame.arguments[access.a], 4))
      frame.rax = *reinterpret_cast<const std::uint32_t*>(frame.arguments[access.a]);
    if (!access.after) tell(teller, access, frame, 0);
  }
}

extern "C" [[gnu::visibility("hidden"), gnu::used]] void reweave_after_call(const LibraryCall& call,
                                                                            const LibraryFrame& frame,
                                                                            std::uint64_t result) {
  if (!accesses_wanted()) return;
  Teller teller(frame.caller, call.accesses[0].after ? false : true);
  for (std::uint32_t i = 0; i < call.count; i++) {
    const LibraryAccess& access = call.accesses[i];
    if (access.after && happened(access.condition, result)) tell(teller, access, frame, result);
  }
}

}  // namespace reweave::shim
