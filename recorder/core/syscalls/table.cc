// Every system call of x86-64, in number order (arch/x86/entry/syscalls/syscall_64.tbl).
//
// To add one: fill in its row. A call needs a handler, in its family's file, only if its outputs cannot describe its
// effects. A test compares the rows with the kernel's header.
#include "recorder/core/syscalls/table.h"

#include <array>

#include "recorder/core/syscalls/explored_handlers.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/kernel_step_handlers.h"

namespace reweave::core {

namespace {

constexpr Out fixed(std::uint8_t arg, std::uint16_t bytes) { return {OutKind::kFixed, arg, 0, bytes}; }
constexpr Out in_out(std::uint8_t arg, std::uint16_t bytes) { return {OutKind::kInOutFixed, arg, 0, bytes}; }
constexpr Out by_result(std::uint8_t arg, std::uint8_t room, std::uint16_t item) {
  return {OutKind::kByResult, arg, room, item};
}
constexpr Out by_count(std::uint8_t arg, std::uint8_t count, std::uint16_t item) {
  return {OutKind::kByCount, arg, count, item};
}
constexpr Out in_out_count(std::uint8_t arg, std::uint8_t count, std::uint16_t item) {
  return {OutKind::kInOutCount, arg, count, item};
}
constexpr Out by_page(std::uint8_t arg, std::uint8_t count) { return {OutKind::kByPage, arg, count, 1}; }
constexpr Out message(std::uint8_t arg, std::uint8_t room) { return {OutKind::kMessage, arg, room, 1}; }
constexpr Out bits(std::uint8_t arg, std::uint8_t count) { return {OutKind::kBits, arg, count, 1}; }
constexpr Out input(std::uint8_t arg, std::uint8_t count) { return {OutKind::kIn, arg, count, 1}; }
constexpr Out vector(std::uint8_t arg, std::uint8_t count) { return {OutKind::kVector, arg, count, 0}; }
constexpr Out socket_address(std::uint8_t arg, std::uint8_t length) { return {OutKind::kSocket, arg, length, 0}; }

constexpr SyscallRow kPlainRows[] = {
#define ROW(...) {__VA_ARGS__},
#include "recorder/core/syscalls/rows.inc"
#undef ROW
};
constexpr std::size_t kRowCount = sizeof kPlainRows / sizeof kPlainRows[0];

struct IntArguments {
  std::uint16_t number;
  std::uint8_t ints;
};
constexpr IntArguments kIntArguments[] = {
#define INTS(number, ints) {number, ints},
#include "recorder/core/syscalls/int_arguments.inc"
#undef INTS
};

struct PathArguments {
  std::uint16_t number;
  std::uint8_t paths;
};
constexpr PathArguments kPathArguments[] = {
#define PATHS(number, paths) {number, paths},
#include "recorder/core/syscalls/path_arguments.inc"
#undef PATHS
};

struct ArgumentPlaces {
  std::uint16_t number;
  CallPlaces places;
};
constexpr ArgumentPlaces kArgumentPlaces[] = {
#define PLACES(number, ...) {number, {__VA_ARGS__}},
#include "recorder/core/syscalls/argument_places.inc"
#undef PLACES
};

struct RepeatedCall {
  std::uint16_t number;
  Repeats repeats;
};
constexpr RepeatedCall kRepeatedCalls[] = {
#define REPEATED(number, repeats) {number, Repeats::repeats},
#include "recorder/core/syscalls/repeated_calls.inc"
#undef REPEATED
};

struct StepRow {
  std::uint16_t number;
  void (*before)(const Call&);
  void (*after)(const Call&, long result);
};
constexpr StepRow kStepRows[] = {
#define STEPS(number, before, after) {number, before, after},
#include "recorder/core/syscalls/kernel_step_rows.inc"
#undef STEPS
};

struct ExploredRow {
  std::uint16_t number;
  ExploredStep step;
  bool (*answer)(Call&, long& result);
};
constexpr ExploredRow kExploredRows[] = {
#define EXPLORED(number, step, answer) {number, ExploredStep::step, answer},
#include "recorder/core/syscalls/explored_rows.inc"
#undef EXPLORED
};

// The next entry of a list in number order if it belongs to the row; otherwise null.
template <typename Entry, std::size_t N>
constexpr const Entry* take_entry(const Entry (&list)[N], std::size_t& next, const SyscallRow& row) {
  return next < N && list[next].number == row.number ? &list[next++] : nullptr;
}

// All lists are in number order.
constexpr std::array<SyscallRow, kRowCount> make_rows() {
  std::array<SyscallRow, kRowCount> rows = {};
  std::size_t ints = 0, paths = 0, places = 0, repeated = 0, answers = 0, steps = 0;
  for (std::size_t i = 0; i < kRowCount; i++) {
    SyscallRow& row = rows[i] = kPlainRows[i];
    if (const auto* entry = take_entry(kIntArguments, ints, row)) row.ints = entry->ints;
    if (const auto* entry = take_entry(kPathArguments, paths, row)) row.paths = entry->paths;
    if (const auto* entry = take_entry(kArgumentPlaces, places, row)) row.at = entry->places;
    if (const auto* entry = take_entry(kRepeatedCalls, repeated, row)) row.repeats = entry->repeats;
    if (const auto* entry = take_entry(kExploredRows, answers, row)) {
      row.step = entry->step;
      row.explored = entry->answer;
    }
    if (const auto* entry = take_entry(kStepRows, steps, row)) {
      row.before = entry->before;
      row.after = entry->after;
    }
  }
  return rows;
}
constexpr std::array<SyscallRow, kRowCount> kRows = make_rows();

// True if every entry of a list in number order has a row.
template <typename Entry, std::size_t N>
constexpr bool all_have_rows(const Entry (&list)[N]) {
  std::size_t next = 0;
  for (const SyscallRow& row : kRows) take_entry(list, next, row);
  return next == N;
}
static_assert(all_have_rows(kIntArguments) && all_have_rows(kPathArguments) && all_have_rows(kArgumentPlaces) &&
                  all_have_rows(kRepeatedCalls) && all_have_rows(kExploredRows) && all_have_rows(kStepRows),
              "the lists of further columns are in number order, each entry of a call that has a row");

constexpr bool sorted_and_unique() {
  for (std::size_t i = 1; i < kRowCount; i++)
    if (kRows[i - 1].number >= kRows[i].number) return false;
  return true;
}
static_assert(sorted_and_unique(), "rows are in number order, each number once");

constexpr bool outputs_come_first() {
  for (const SyscallRow& row : kRows)
    for (std::size_t i = 1; i < std::size(row.outs); i++)
      if (row.outs[i].kind != OutKind::kNone && row.outs[i - 1].kind == OutKind::kNone) return false;
  return true;
}
static_assert(outputs_come_first(), "the first output of a row that is none ends them");

constexpr std::size_t kIndexSize = 512;
struct Index {
  std::uint16_t row[kIndexSize];  // row + 1; 0: none
};
constexpr Index make_index() {
  Index index = {};
  for (std::size_t i = 0; i < kRowCount; i++) index.row[kRows[i].number] = static_cast<std::uint16_t>(i + 1);
  return index;
}
constexpr Index kIndex = make_index();

constexpr SyscallRow kUnknown = {
    0xffff, "unknown", CallKind::kRefused, 0, 0, {}, nullptr, "its number is newer than this version of Reweave"};

}  // namespace

const SyscallRow* find_row(long number) {
  if (number < 0 || number >= static_cast<long>(kIndexSize) || kIndex.row[number] == 0) return &kUnknown;
  return &kRows[kIndex.row[number] - 1];
}

}  // namespace reweave::core
