#include "explorer/run/observation.h"

#include <algorithm>
#include <cstring>

#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

// Calls take(note, its enabled threads) for each of the notes in [at, at + bytes).
template <typename Take>
void read_notes(const std::byte* at, std::uint64_t bytes, const Take& take) {
  const std::byte* const end = at + bytes;
  while (at + sizeof(ChoiceNote) <= end) {
    ChoiceNote note;
    std::memcpy(&note, at, sizeof note);
    if (at + note_bytes(note.enabled) > end) return;
    take(note, std::span(reinterpret_cast<const ThreadId*>(at + sizeof note), note.enabled));
    at += note_bytes(note.enabled);
  }
}

}  // namespace

Observation::Observation(const std::byte* notes) {
  NotesHeader header;
  std::memcpy(&header, notes, sizeof header);
  truncated_ = header.truncated != 0;
  read_notes(notes + sizeof header, std::min(header.bytes, kTailNotesOffset - sizeof header),
             [this](const ChoiceNote& note, std::span<const ThreadId> enabled) { append(note, enabled); });
  read_notes(notes + kTailNotesOffset, std::min(header.tail_bytes, kTailNotesBytes),
             [this](const ChoiceNote& note, std::span<const ThreadId>) { tail_.push_back(note); });
}

Observation::Observation(std::span<const ChoiceNote> notes, std::span<const ThreadId> enabled_pool, bool truncated,
                         std::vector<ChoiceNote> tail)
    : truncated_(truncated), tail_(std::move(tail)) {
  for (const ChoiceNote& note : notes) {
    append(note, enabled_pool.first(note.enabled));
    enabled_pool = enabled_pool.subspan(note.enabled);
  }
}

std::span<const ThreadId> Observation::enabled(std::size_t i) const {
  return {enabled_.data() + enabled_at_[i], choices_[i].enabled};
}

void Observation::append(const ChoiceNote& note, std::span<const ThreadId> enabled) {
  choices_.push_back(note);
  choices_.back().enabled = static_cast<std::uint16_t>(enabled.size());
  enabled_at_.push_back(enabled_.size());
  enabled_.insert(enabled_.end(), enabled.begin(), enabled.end());
  threads_ = std::max<std::uint32_t>({threads_, note.thread + 1u, note.from + 1u});
  if (last_tick_.size() < threads_) last_tick_.resize(threads_);
  std::uint64_t& last = last_tick_[note.thread];
  resumed_.push_back(last == note.tick + std::uint64_t{1});
  last = note.tick + std::uint64_t{1};
}

bool is_sync(const ChoiceNote& note) {
  switch (kind_of(note)) {
    case OpKind::kLock:
    case OpKind::kUnlock:
    case OpKind::kWait:
    case OpKind::kNotify:
    case OpKind::kSemaphore:
    case OpKind::kBarrier:
    case OpKind::kOther:
      return true;
    default:
      return false;
  }
}

PendingOp operation_of(const ChoiceNote& note) {
  return {note.object, note.pc, kind_of(note), note.is_write, 0, note.detail};
}

bool dependent(const ChoiceNote& a, const ChoiceNote& b) { return conflicting(operation_of(a), operation_of(b)); }

}  // namespace reweave
