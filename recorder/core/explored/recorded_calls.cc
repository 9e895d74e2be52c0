#include "recorder/core/explored/recorded_calls.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/outside.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kNumbers = 512;
constexpr std::uint64_t kNoParts = ~std::uint64_t{0};

RecordedCall* calls;
std::uint32_t heads[kNumbers], tails[kNumbers];
// By descriptor.
std::uint32_t input_heads[kMaxFds], input_tails[kMaxFds];
std::uint32_t outputs[kMaxFds];    // recorded writes so far, while the index is made
std::uint32_t opened_by[kMaxFds];  // call that made the one that is open, plus one
bool seen[kMaxFds];
bool changes_file[kMaxFds];
std::uint64_t signals_from;  // offset in the feed behind the last signal that was taken

bool is_descriptor(long fd) { return fd >= 0 && fd < static_cast<long>(kMaxFds); }

RecordedCall* at(std::uint32_t index) { return index == kNoCall ? nullptr : &calls[index]; }
std::uint32_t index_of(const RecordedCall& call) { return static_cast<std::uint32_t>(&call - calls); }

bool is_call(const wire::RecordHeader* record) {
  return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
         reinterpret_cast<const wire::SyscallRecord*>(record)->number < kNumbers;
}

// Of the call that follows.
bool is_part(const wire::RecordHeader& record) {
  return is_pseudo_call(record, wire::kOutputPart) || is_pseudo_call(record, wire::kFileChanged);
}

void append(std::uint32_t* list_heads, std::uint32_t* list_tails, std::size_t list, std::uint32_t index,
            std::uint32_t RecordedCall::*next) {
  if (list_heads[list] == kNoCall)
    list_heads[list] = index;
  else
    calls[list_tails[list]].*next = index;
  list_tails[list] = index;
}

void add(std::uint32_t index, std::uint64_t offset, std::uint64_t parts) {
  const auto& record = *reinterpret_cast<const wire::SyscallRecord*>(record_at(offset));
  calls[index] = {offset, parts, kNoCall, kNoCall, 0, record.header.thread, false};
  append(heads, tails, record.number, index, &RecordedCall::next);
  const std::uint32_t flags = find_row(record.number)->flags;
  const auto fd = static_cast<long>(record.args[0]);
  if ((flags & kNewFd) != 0 && is_descriptor(record.result)) {
    seen[record.result] = true;
    calls[index].outputs_before = outputs[record.result];
  }
  if ((flags & kFirstIsFd) == 0 || !is_descriptor(fd)) return;
  seen[fd] = true;
  changes_file[fd] = changes_file[fd] || is_pseudo_call(*record_at(parts), wire::kFileChanged);
  if (sends_outside(record.number)) outputs[fd]++;
  if (!hears_outside(record.number)) return;
  calls[index].outputs_before = outputs[fd];
  append(input_heads, input_tails, static_cast<std::size_t>(fd), index, &RecordedCall::next_input);
}

// Is `entry` an answer to `call`? Exact: the recorded thread's own; otherwise any thread's. Descriptors must agree, and
// so must commands.
bool answers(const Call& call, const RecordedCall& entry, bool exact) {
  if (entry.used) return false;
  if ((call.row->flags & kFirstIsFd) == 0) return !exact || entry.thread == call.me.id;
  const wire::SyscallRecord& record = record_of(entry);
  if (record.args[0] != static_cast<std::uint64_t>(call.logged[0])) return false;
  const bool has_command = call.number == SYS_fcntl || call.number == SYS_ioctl;
  if (has_command && record.args[1] != static_cast<std::uint64_t>(call.logged[1])) return false;
  return is_of_open_file(entry, call.logged[0]);
}

}  // namespace

const wire::RecordHeader* record_at(std::uint64_t offset) {
  return reinterpret_cast<const wire::RecordHeader*>(kFeedBase + (offset & (arena().feed.bytes - 1)));
}

const wire::SyscallRecord& record_of(const RecordedCall& call) {
  return *reinterpret_cast<const wire::SyscallRecord*>(record_at(call.offset));
}

RecordedCall* first_recorded(long number) {
  return number < 0 || number >= static_cast<long>(kNumbers) ? nullptr : at(heads[number]);
}
RecordedCall* next_recorded(const RecordedCall& call) { return at(call.next); }
RecordedCall* first_input(long fd) { return is_descriptor(fd) ? at(input_heads[fd]) : nullptr; }
RecordedCall* next_input(const RecordedCall& call) { return at(call.next_input); }

RecordedCall* find_recorded(const Call& call) {
  for (bool exact : {true, false})
    for (RecordedCall* entry = first_recorded(call.number); entry != nullptr; entry = next_recorded(*entry))
      if (answers(call, *entry, exact)) return entry;
  return nullptr;
}

void note_opened(const RecordedCall& call, long fd) {
  if (is_descriptor(fd)) opened_by[fd] = index_of(call) + 1;
}

bool is_of_open_file(const RecordedCall& call, long fd) {
  return !is_descriptor(fd) || index_of(call) >= opened_by[fd];
}

bool writes_mapped_file(long fd) { return is_descriptor(fd) && changes_file[fd]; }

bool is_recorded_descriptor(long fd) { return is_descriptor(fd) && seen[fd]; }

const wire::SignalRecord* next_outside_signal() {
  const std::uint64_t end = arena().feed.head.load();
  for (; signals_from < end; signals_from += record_at(signals_from)->bytes) {
    const wire::RecordHeader* record = record_at(signals_from);
    if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSignal)) continue;
    const auto* signal = reinterpret_cast<const wire::SignalRecord*>(record);
    if ((signal->flags & 1) != 0) return signal;
  }
  return nullptr;
}

void take_outside_signal() { signals_from += record_at(signals_from)->bytes; }

void index_recorded_calls() {
  const Channel& feed = arena().feed;
  for (std::uint32_t& head : heads) head = kNoCall;
  for (std::uint32_t& head : input_heads) head = kNoCall;
  const std::uint64_t begin = feed.tail.load(), end = feed.head.load();
  signals_from = begin;
  std::uint64_t count = 0;
  for (std::uint64_t offset = begin; offset < end; offset += record_at(offset)->bytes)
    count += is_call(record_at(offset)) ? 1 : 0;
  const std::uint64_t bytes = (count + 1) * sizeof(RecordedCall);
  const long memory = bytes > kFeedBase - kIndexBase
                          ? -ENOMEM
                          : sys(SYS_mmap, kIndexBase, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (is_error(memory)) stop_run(wire::OutcomeKind::kUnsupported, "not enough memory to index the recording");
  calls = reinterpret_cast<RecordedCall*>(memory);
  std::uint32_t index = 0;
  std::uint64_t parts = kNoParts;
  for (std::uint64_t offset = begin; offset < end; offset += record_at(offset)->bytes) {
    if (is_part(*record_at(offset))) {
      if (parts == kNoParts) parts = offset;
    } else {
      if (is_call(record_at(offset))) add(index++, offset, parts == kNoParts ? offset : parts);
      parts = kNoParts;
    }
  }
}

}  // namespace reweave::core
