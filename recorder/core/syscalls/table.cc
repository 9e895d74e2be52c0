// Every system call of x86-64, in number order (arch/x86/entry/syscalls/syscall_64.tbl).
//
// To add one: fill its row. Only a call whose effects the outputs cannot describe needs a handler, in its family's
// file. A test holds the rows against the kernel's header.
#include "recorder/core/syscalls/table.h"

#include "recorder/core/fatal.h"
#include "recorder/core/syscalls/handlers.h"

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

constexpr SyscallRow kRows[] = {
#define ROW(...) {__VA_ARGS__},
#include "recorder/core/syscalls/rows.inc"
#undef ROW
};
constexpr std::size_t kRowCount = sizeof kRows / sizeof kRows[0];

constexpr bool sorted_and_unique() {
  for (std::size_t i = 1; i < kRowCount; i++)
    if (kRows[i - 1].number >= kRows[i].number) return false;
  return true;
}
static_assert(sorted_and_unique(), "rows are in number order, each number once");

constexpr std::size_t kIndexSize = 512;
struct Index {
  std::uint16_t row[kIndexSize];  // row + 1, 0: none
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

long refuse(Call& call) {
  if (call.row->kind == CallKind::kRefused) return complete(call, -ENOSYS);
  if (call.row->kind == CallKind::kDenied) return complete(call, -EPERM);
  Text text;
  text << "system call " << call.row->name << " (number " << static_cast<int>(call.number)
       << ") cannot be recorded: " << call.row->why << "; it is row " << static_cast<int>(call.number)
       << " of recorder/core/syscalls/table.cc";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

}  // namespace reweave::core
