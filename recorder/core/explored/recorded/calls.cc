#include "recorder/core/explored/recorded/calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/explored/model_memory.h"
#include "recorder/core/explored/recorded/contents.h"
#include "recorder/core/explored/recorded/files.h"
#include "recorder/core/explored/recorded/inputs.h"
#include "recorder/core/explored/recorded/matching.h"
#include "recorder/core/explored/recorded/processes.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/syscalls/named_files.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kNumbers = 512;
constexpr std::uint64_t kNoParts = ~std::uint64_t{0};

IN_MODEL RecordedCall* calls;
IN_MODEL std::uint32_t heads[kNumbers], tails[kNumbers];
IN_MODEL std::uint64_t signals_from;  // offset in the feed after the last signal taken

RecordedCall* at(std::uint32_t index) { return index == kNothing ? nullptr : &calls[index]; }

bool is_call(const wire::RecordHeader* record) {
  return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
         wire::record_cast<wire::SyscallRecord>(*record).number < kNumbers;
}

// True for a record that belongs to the call that follows.
bool is_part(const wire::RecordHeader& record) {
  return is_pseudo_call(record, wire::kOutputPart) || is_pseudo_call(record, wire::kFileChanged);
}

void add(std::uint32_t index, std::uint64_t offset, std::uint64_t parts) {
  const auto& record = wire::record_cast<wire::SyscallRecord>(*record_at(offset));
  calls[index] = {offset, parts, kNothing, kNothing, 0, kNothing, kNothing, 0, record.header.thread, false};
  if (heads[record.number] == kNothing)
    heads[record.number] = index;
  else
    calls[tails[record.number]].next = index;
  tails[record.number] = index;
  if (recorded_names(record) != nullptr) note_recording_has_names();
  index_file_use(calls[index], index, record);
}

// A new process has the descriptors of its creator.
void note_inherited(const wire::RecordHeader& record) {
  if (record.kind != static_cast<std::uint16_t>(wire::RecordKind::kSpawn)) return;
  inherit_recorded_files(recorded_process_of(record.thread), wire::record_cast<wire::SpawnRecord>(record).process);
}

void note_spawned(const wire::RecordHeader& record) {
  if (record.kind == static_cast<std::uint16_t>(wire::RecordKind::kSpawn))
    note_recorded_spawn(wire::record_cast<wire::SpawnRecord>(record));
  note_inherited(record);
}

// Events before the start of the runs tell which files are open then, and their contents.
void note_earlier(const wire::RecordHeader& record) {
  if (record.kind == static_cast<std::uint16_t>(wire::RecordKind::kExec))
    forget_recorded_files(recorded_process_of(record.thread));
  note_inherited(record);
}

void index_earlier(std::uint64_t offset, std::uint64_t parts) {
  const auto& record = wire::record_cast<wire::SyscallRecord>(*record_at(offset));
  RecordedCall call = {offset, parts, kNothing, kNothing, 0, kNothing, kNothing, 0, record.header.thread, false};
  index_file_use(call, kNothing, record);
}

// Calls `note` for each record in the feed's range, and `use` for each call, with the offsets of its record and of its
// first part.
template <typename Note, typename Use>
void for_each_call(std::uint64_t begin, std::uint64_t end, const Note& note, const Use& use) {
  std::uint64_t parts = kNoParts;
  for (std::uint64_t offset = begin; offset < end; offset += record_at(offset)->bytes) {
    const wire::RecordHeader& record = *record_at(offset);
    note(record);
    if (is_part(record)) {
      if (parts == kNoParts) parts = offset;
    } else {
      if (is_call(&record)) use(offset, parts == kNoParts ? offset : parts);
      parts = kNoParts;
    }
  }
}

std::uint64_t count_outputs(const wire::RecordHeader& record) {
  if (record.kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) return 0;
  std::uint64_t count = 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  for (std::uint64_t at = sizeof(wire::SyscallRecord); at + sizeof(wire::OutputChunk) <= record.bytes; count++) {
    wire::OutputChunk chunk;
    memcpy(&chunk, bytes + at, sizeof chunk);
    if (chunk.bytes > record.bytes) break;
    at += sizeof chunk + round_to(chunk.bytes, 8);
  }
  return count;
}

// Maps memory for `count` calls of the runs' part of the recording, and for the files of `all_calls` calls with
// `outputs` outputs.
void make_room(std::uint64_t count, std::uint64_t all_calls, std::uint64_t outputs) {
  const std::uint64_t bytes = round_to((count + 1) * sizeof(RecordedCall), kPage);
  long memory = bytes > kFeedBase - kIndexBase ? -ENOMEM
                                               : sys(SYS_mmap, kIndexBase, bytes, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  calls = reinterpret_cast<RecordedCall*>(memory);
  if (!is_error(memory)) memory = prepare_recorded_files(kIndexBase + bytes, all_calls);
  if (!is_error(memory)) memory = prepare_contents(static_cast<std::uint64_t>(memory), all_calls + 1, outputs);
  if (!is_error(memory)) note_index_end(static_cast<std::uint64_t>(memory));
  if (is_error(memory)) stop_run(wire::OutcomeKind::kUnsupported, "not enough memory to index the recording");
}

}  // namespace

const wire::RecordHeader* record_at(std::uint64_t offset) {
  return reinterpret_cast<const wire::RecordHeader*>(kFeedBase + (offset & (arena().feed.bytes - 1)));
}

const wire::SyscallRecord& record_of(const RecordedCall& call) {
  return wire::record_cast<wire::SyscallRecord>(*record_at(call.offset));
}

RecordedCall& recorded_call_at(std::uint32_t index) { return calls[index]; }

RecordedCall* first_recorded(long number) {
  return number < 0 || number >= static_cast<long>(kNumbers) ? nullptr : at(heads[number]);
}
RecordedCall* next_recorded(const RecordedCall& call) { return at(call.next); }
RecordedCall* first_input(std::uint32_t file) { return file == kNothing ? nullptr : at(recorded_file(file).inputs); }
RecordedCall* next_input(const RecordedCall& call) { return at(call.next_input); }

namespace {

RecordedCall* find_recorded(const Asked& asked) {
  const Call& call = asked.call;
  RecordedCall *others = nullptr, *again = nullptr;
  const ThreadId twin = recorded_twin(call.me);
  for (RecordedCall* entry = first_recorded(call.number); entry != nullptr; entry = next_recorded(*entry)) {
    if (!answers(asked, *entry)) continue;
    if (entry->used && !may_answer_again(call, *entry)) continue;
    const bool own =
        entry->thread == twin || asked.file != kNothing;  // for a file the first one, whichever thread asks
    if (!entry->used && own) return entry;
    if (!entry->used && others == nullptr) others = entry;
    if (entry->used) again = entry;
  }
  return others != nullptr ? others : again;
}

}  // namespace

RecordedCall* find_recorded(const Call& call) {
  Asked asked = asked_by(call);
  RecordedCall* found = find_recorded(asked);
  if (found != nullptr || !makes_new(call) || asked.names == nullptr) return found;
  asked.made_up = true;
  found = find_recorded(asked);
  if (found != nullptr) note_made_up(asked, *found);
  return found;
}

const wire::SignalRecord* next_outside_signal() {
  const std::uint64_t end = arena().feed.head.load();
  for (; signals_from < end; signals_from += record_at(signals_from)->bytes) {
    const wire::RecordHeader* record = record_at(signals_from);
    if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSignal)) continue;
    const auto* signal = &wire::record_cast<wire::SignalRecord>(*record);
    if ((signal->flags & 1) != 0) return signal;
  }
  return nullptr;
}

void take_outside_signal() { signals_from += record_at(signals_from)->bytes; }

void index_recorded_calls() {
  const Channel& feed = arena().feed;
  for (std::uint32_t& head : heads) head = kNothing;
  const std::uint64_t begin = feed.tail.load(), end = feed.head.load();
  signals_from = begin;
  std::uint64_t count = 0, all_calls = 0, outputs = 0;
  for (std::uint64_t offset = 0; offset < end; offset += record_at(offset)->bytes) {
    const bool is_one = is_call(record_at(offset));
    all_calls += is_one ? 1 : 0;
    count += is_one && offset >= begin ? 1 : 0;
    outputs += count_outputs(*record_at(offset));
  }
  make_room(count, all_calls, outputs);
  note_first_threads();
  for_each_call(0, begin, note_earlier, index_earlier);
  begin_at_departure(process().index);
  begin_contents_at_departure();
  std::uint32_t index = 0;
  for_each_call(begin, end, note_spawned,
                [&index](std::uint64_t offset, std::uint64_t parts) { add(index++, offset, parts); });
  forget_recorded_tables();
  end_of_contents();
}

}  // namespace reweave::core
