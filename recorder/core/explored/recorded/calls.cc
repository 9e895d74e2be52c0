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

void note_spawned(const wire::RecordHeader& record) {
  if (record.kind != static_cast<std::uint16_t>(wire::RecordKind::kSpawn) || record.thread >= kMaxThreads) return;
  const auto& spawn = wire::record_cast<wire::SpawnRecord>(record);
  note_recorded_spawn(spawn);
  inherit_recorded_files(recorded_process_of(record.thread), static_cast<std::uint16_t>(spawn.process));
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

// Maps memory for `count` calls with `outputs` outputs.
void make_room(std::uint64_t count, std::uint64_t outputs) {
  const std::uint64_t bytes = round_to((count + 1) * sizeof(RecordedCall), kPage);
  long memory = bytes > kFeedBase - kIndexBase ? -ENOMEM
                                               : sys(SYS_mmap, kIndexBase, bytes, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  calls = reinterpret_cast<RecordedCall*>(memory);
  if (!is_error(memory)) memory = prepare_recorded_files(kIndexBase + bytes, count);
  if (!is_error(memory)) memory = prepare_contents(static_cast<std::uint64_t>(memory), count + 1, outputs);
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
  std::uint64_t count = 0, outputs = 0;
  for (std::uint64_t offset = begin; offset < end; offset += record_at(offset)->bytes) {
    count += is_call(record_at(offset)) ? 1 : 0;
    outputs += count_outputs(*record_at(offset));
  }
  make_room(count, outputs);
  note_first_threads();
  std::uint32_t index = 0;
  std::uint64_t parts = kNoParts;
  for (std::uint64_t offset = begin; offset < end; offset += record_at(offset)->bytes) {
    const wire::RecordHeader& record = *record_at(offset);
    note_spawned(record);
    if (is_part(record)) {
      if (parts == kNoParts) parts = offset;
    } else {
      if (is_call(&record)) add(index++, offset, parts == kNoParts ? offset : parts);
      parts = kNoParts;
    }
  }
  forget_recorded_tables();
  end_of_contents();
}

}  // namespace reweave::core
