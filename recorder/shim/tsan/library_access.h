// Accesses of the C library's functions on behalf of their caller, as data: the rows of library_calls.inc.
//
// A row's accesses are reported like those of instrumented code: a schedule point, then events and heap checks.
// Addresses and sizes follow from the arguments and the result.
#pragma once

#include <cstdint>

#include "formats/event.h"

namespace reweave::shim {

// The number of bytes. `a` and `b` are argument numbers (integers and pointers only, from 0) unless stated otherwise.
enum class Length : std::uint8_t {
  kBytes,           // `bytes`
  kArgument,        // argument a
  kArgument32,      // ... as 32 bits
  kArgumentTimes,   // argument a, times `bytes`
  kProduct,         // argument a times argument b
  kResult,          // the result, at most argument a
  kResultTimes,     // the result as 32 bits, times `bytes`
  kResultUnits,     // the result, times argument a
  kResultPlus,      // the result plus a (a number), times `bytes`
  kResultUnitsCut,  // the result plus 1, at most argument a, times `bytes`
  kPastResult,      // up to and including the byte that the result points to
  kUpToResult,      // ... excluding it
  kString,          // a string with its NUL
  kStringOf,        // a string with its NUL, or the first (argument a) bytes
  kWideString,      // a string of wchar_t with its NUL
  kSameLetters,     // up to the first character that differs from the string in argument a; at most argument b
  kPatternText,     // regexec: a string, unless argument a says that it is a range
  kVector,          // argument a iovecs
  kSocketLength,    // in-out length at argument a: as much as was written, at most the length before
};

// The memory that is accessed: the argument's memory itself, or the buffers described there.
enum class Target : std::uint8_t {
  kPlace,
  kVectorParts,   // argument a iovecs
  kMessageParts,  // buffers of a msghdr
};

// After the call: whether the access happened.
enum class Condition : std::uint8_t { kAlways, kNotMinusOne, kZero, kPositive, kNotNull };

struct LibraryAccess {
  std::uint8_t argument;  // number of the argument that points to the memory; if that is null, there is no access
  bool write;
  bool after;  // known only after the call has returned
  Condition condition;
  Target target;
  Length length;
  std::uint8_t a, b;
  std::uint32_t bytes;
  std::uint8_t marks = 0;  // marks of the event: kMakesLock, kEndsLock
};

struct LibraryCall {
  static constexpr std::uint8_t kMaxAccesses = 4;
  std::uint8_t count;
  LibraryAccess accesses[kMaxAccesses];
};

// The vocabulary of the rows.
struct LengthOf {
  Length length;
  std::uint8_t a = 0, b = 0;
  std::uint32_t bytes = 1;
  Target target = Target::kPlace;
};
constexpr LengthOf bytes(std::uint32_t n) { return {Length::kBytes, 0, 0, n}; }
constexpr LengthOf argument(std::uint8_t a) { return {Length::kArgument, a}; }
constexpr LengthOf argument32(std::uint8_t a) { return {Length::kArgument32, a}; }
constexpr LengthOf argument_times(std::uint8_t a, std::uint32_t n) { return {Length::kArgumentTimes, a, 0, n}; }
constexpr LengthOf product(std::uint8_t a, std::uint8_t b) { return {Length::kProduct, a, b}; }
constexpr LengthOf result(std::uint8_t limit) { return {Length::kResult, limit}; }
constexpr LengthOf result_times(std::uint32_t n) { return {Length::kResultTimes, 0, 0, n}; }
constexpr LengthOf result_units(std::uint8_t unit) { return {Length::kResultUnits, unit}; }
constexpr LengthOf result_plus(std::uint8_t n, std::uint32_t unit = 1) { return {Length::kResultPlus, n, 0, unit}; }
constexpr LengthOf result_units_cut(std::uint8_t limit, std::uint32_t unit) {
  return {Length::kResultUnitsCut, limit, 0, unit};
}
inline constexpr LengthOf past_result = {Length::kPastResult};
inline constexpr LengthOf up_to_result = {Length::kUpToResult};
inline constexpr LengthOf string = {Length::kString};
constexpr LengthOf string_of(std::uint8_t limit) { return {Length::kStringOf, limit}; }
inline constexpr LengthOf wide_string = {Length::kWideString};
constexpr LengthOf same_letters(std::uint8_t other, std::uint8_t limit) { return {Length::kSameLetters, other, limit}; }
constexpr LengthOf pattern_text(std::uint8_t flags) { return {Length::kPatternText, flags}; }
constexpr LengthOf vector(std::uint8_t count) { return {Length::kVector, count}; }
// All of the buffers, or as much of them as the result says.
constexpr LengthOf vector_parts(std::uint8_t count) { return {Length::kBytes, count, 0, 1, Target::kVectorParts}; }
constexpr LengthOf vector_result(std::uint8_t count) { return {Length::kResult, count, 0, 1, Target::kVectorParts}; }
inline constexpr LengthOf message_parts = {Length::kBytes, 0, 0, 1, Target::kMessageParts};
inline constexpr LengthOf message_result = {Length::kResult, 0, 0, 1, Target::kMessageParts};
constexpr LengthOf socket_length(std::uint8_t a) { return {Length::kSocketLength, a}; }

constexpr LibraryAccess access_of(std::uint8_t argument, LengthOf n, bool write, bool after, Condition condition) {
  return {argument, write, after, condition, n.target, n.length, n.a, n.b, n.bytes};
}
constexpr LibraryAccess reads(std::uint8_t argument, LengthOf n) {
  return access_of(argument, n, false, false, Condition::kAlways);
}
constexpr LibraryAccess writes(std::uint8_t argument, LengthOf n) {
  return access_of(argument, n, true, false, Condition::kAlways);
}
// The lifetime of a lock begins or ends with its first byte.
constexpr LibraryAccess marked(LibraryAccess access, std::uint8_t marks) {
  access.marks = marks;
  return access;
}
constexpr LibraryAccess makes_lock(std::uint8_t argument) { return marked(writes(argument, bytes(1)), kMakesLock); }
constexpr LibraryAccess ends_lock(std::uint8_t argument) { return marked(writes(argument, bytes(1)), kEndsLock); }
// Accesses that are known only after the call: what was read; what was written if `condition` holds (by default, if the
// result is not -1).
constexpr LibraryAccess has_read(std::uint8_t argument, LengthOf n) {
  return access_of(argument, n, false, true, Condition::kAlways);
}
constexpr LibraryAccess wrote(std::uint8_t argument, LengthOf n, Condition condition = Condition::kNotMinusOne) {
  return access_of(argument, n, true, true, condition);
}
inline constexpr Condition always = Condition::kAlways, if_zero = Condition::kZero, if_positive = Condition::kPositive,
                           if_not_null = Condition::kNotNull;

}  // namespace reweave::shim
