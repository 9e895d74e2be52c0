#include "recorder/supervisor/ring/ring_drain.h"

#include <algorithm>
#include <cstring>

#include "formats/base/error.h"
#include "recorder/supervisor/process/heap.h"
#include "recorder/supervisor/ring/unsaved.h"

namespace reweave {

namespace {

// The bytes of the ring that are released in one step, and the bytes of the recording that are written in it. Requests
// of the target wait for the end of the step.
constexpr std::uint64_t kPortionBytes = 256 << 10;
// The most bytes of the ring that may be taken but not yet saved in blocks. The target must not overwrite them.
constexpr std::uint64_t kMostUnsaved = kOutRingBytes / 4;

}  // namespace

bool RingDrain::take_some() {
  const ArenaMemory::Span span = arena_.published();
  if (span.bytes == 0) return false;
  writer_.set_pressure(percent_full(span));
  prepare_for_much();
  const std::uint64_t taken = take_from(span);
  arena_.take(taken);
  caught_up_ = taken == span.bytes;
  if (too_large() && !dropped_) drop();
  if (dropped_) saved_ = {arena_.taken(), writer_.records_in_blocks()};
  if (arena_.taken() - saved_.bytes > kMostUnsaved) return flush(), true;
  save_mark();
  return true;
}

void RingDrain::flush() {
  writer_.flush();
  saved_ = {arena_.taken(), writer_.records_in_blocks()};
  save_mark();
}

// Stops writing the recording, because its rest is useless.
void RingDrain::drop() {
  dropped_ = true;
  remove_unsaved(writer_.folder());
}

// After this the target may overwrite the records before the mark, so the manifest must include them.
void RingDrain::save_mark() {
  if (saved_.bytes == told_.bytes) return;
  notes_.write();
  if (arena_.ring_file() >= 0) arena_.note_saved(saved_);
  told_ = saved_;
}

// `last` ends at `position` of the ring and was just appended. If that wrote a block, the block may end before `last`.
void RingDrain::note_saved(std::uint64_t position, const wire::RecordHeader* last) {
  if (writer_.records_in_blocks() == saved_.records) return;
  const bool has_last = writer_.records_in_blocks() == writer_.records();
  saved_ = {has_last ? position : position - last->bytes, writer_.records_in_blocks()};
}

void RingDrain::take_published() {
  const std::uint64_t head = arena_.header().out.head.load();
  while (arena_.header().out.tail.load() < head && take_some()) {
  }
}

void RingDrain::take_all() {
  while (take_some()) {
  }
}

// Takes whole records of `span`. Returns their size.
std::uint64_t RingDrain::take_from(const ArenaMemory::Span& span) {
  const std::uint64_t written = writer_.bytes_written();
  std::uint64_t at = 0;
  while (at < span.bytes && at < kPortionBytes && writer_.bytes_written() - written < kPortionBytes) {
    const auto* record = reinterpret_cast<const wire::RecordHeader*>(span.data + at);
    CHECK(record->bytes >= sizeof *record && record->bytes % 8 == 0 && record->bytes <= span.bytes - at);
    at += record->bytes;
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kNone)) {
      skipped_ += record->bytes;
      continue;
    }
    notes_.note(record);
    if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSignal))
      count_signal(wire::record_cast<wire::SignalRecord>(*record));
    if (dropped_) continue;
    const bool is_apart = append(record);
    note_saved(arena_.taken() + at, record);
    if (is_apart) break;  // take it now: the record in the ring refers to the stored data, no longer to the file
  }
  return at;
}

// Appends a record. True if the data that its call read is stored apart; the record in the ring then refers to the
// stored data too.
bool RingDrain::append(const wire::RecordHeader* record) {
  const bool is_call = record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall);
  const bool is_apart = is_call && (wire::record_cast<wire::SyscallRecord>(*record).flags & wire::kOutputApart) != 0;
  if (!is_apart) return writer_.append(record), false;
  const wire::RecordHeader* stored = kept_.resolve(record, writer_);
  writer_.append(stored);
  std::memcpy(const_cast<wire::RecordHeader*>(record), stored, record->bytes);
  return true;
}

void RingDrain::count_signal(const wire::SignalRecord& signal) {
  if (signal.flags != 0 && signal.number < signals_.size()) signals_[signal.number]++;
}

// Returns the share of the ring, in percent, that records not yet taken occupy.
unsigned RingDrain::percent_full(const ArenaMemory::Span& span) const {
  const std::uint64_t skipped = arena_.state().out_skipped.load(std::memory_order_relaxed) - skipped_;
  return static_cast<unsigned>((span.bytes - std::min(span.bytes, skipped)) * 100 / kOutRingBytes);
}

// Prepares the heap's pages early for a target that writes much. Otherwise, while the supervisor faults in the pages of
// its blocks, the target would use ever more untouched pages of the ring, each of which costs it a fault.
void RingDrain::prepare_for_much() {
  constexpr std::uint64_t kMuch = 128 << 10;
  if (writes_much_ || arena_.header().out.head.load() < kMuch) return;
  writes_much_ = true;
  enlarge_heap(2 << 20);
}

}  // namespace reweave
