#include "recorder/supervisor/ring_drain.h"

#include <algorithm>

#include "formats/error.h"
#include "recorder/supervisor/heap.h"

namespace reweave {

namespace {

// Of the ring, given back at once, and of the recording, written at once: what the target asks for waits as long.
constexpr std::uint64_t kPortionBytes = 256 << 10;

}  // namespace

bool RingDrain::take_some() {
  const ArenaMemory::Span span = arena_.published();
  if (span.bytes == 0) return false;
  writer_.set_pressure(percent_full(span));
  prepare_for_much();
  const std::uint64_t taken = take_from(span);
  arena_.take(taken);
  caught_up_ = taken == span.bytes;
  dropped_ = dropped_ || too_large();
  return true;
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

// Takes whole records of `span`. Returns their bytes.
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
      count_signal(*reinterpret_cast<const wire::SignalRecord*>(record));
    if (!dropped_) append(record);
  }
  return at;
}

void RingDrain::append(const wire::RecordHeader* record) {
  const bool is_call = record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall);
  const bool is_apart =
      is_call && (reinterpret_cast<const wire::SyscallRecord*>(record)->flags & wire::kOutputApart) != 0;
  writer_.append(is_apart ? kept_.resolve(record, writer_) : record);
}

void RingDrain::count_signal(const wire::SignalRecord& signal) {
  if (signal.flags != 0 && signal.number < signals_.size()) signals_[signal.number]++;
}

// How much of the ring is records that were not taken.
unsigned RingDrain::percent_full(const ArenaMemory::Span& span) const {
  const std::uint64_t skipped = arena_.state().out_skipped.load(std::memory_order_relaxed) - skipped_;
  return static_cast<unsigned>((span.bytes - std::min(span.bytes, skipped)) * 100 / kOutRingBytes);
}

// While we fault in the pages that our blocks are made in, a target that writes much would fill page after page of the
// ring, each of which costs it a fault, too.
void RingDrain::prepare_for_much() {
  constexpr std::uint64_t kMuch = 128 << 10;
  if (writes_much_ || arena_.header().out.head.load() < kMuch) return;
  writes_much_ = true;
  enlarge_heap(2 << 20);
}

}  // namespace reweave
