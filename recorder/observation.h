// What an explored run tells the search: each choice that the policy made, in a row in the arena.
//
//   NotesHeader | ChoiceNote, its enabled threads (u16 each, padded to 8) | ChoiceNote, ... | the tail: likewise |
//
// Choices under the fair schedule that follows when a run has used up its schedule points are left out, but for the
// last ones of a run that does not end, which are the tail: the loops that it does not leave.
//
// The chosen thread then executes `kind` on `object`, and whatever follows up to its next schedule point. A thread that
// blocked in its operation is chosen again with the same `tick` when it goes on. Written by the baton holder; read by
// the supervisor when the run is over.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

struct NotesHeader {
  std::uint64_t bytes;       // written after this header
  std::uint64_t truncated;   // 1: later choices were left out
  std::uint64_t tail_bytes;  // written at kTailNotesOffset
};
// The tail begins so many schedule points before the run's last one.
inline constexpr std::uint64_t kTailPoints = 1024;
inline constexpr std::uint64_t kTailNotesBytes = 256 << 10;
inline constexpr std::uint64_t kTailNotesOffset = kNotesBytes - kTailNotesBytes;

struct ChoiceNote {
  std::uint64_t object;  // of the chosen thread's operation
  std::uint64_t pc;
  std::uint32_t tick;  // schedule points of the chosen thread up to this one
  std::uint32_t detail;
  std::uint32_t step;
  std::uint16_t thread;  // chosen
  std::uint16_t from;    // had the baton
  std::uint8_t kind;     // OpKind
  std::uint8_t is_write;
  std::uint8_t flags;  // kFrom...
  std::uint8_t reserved;
  std::uint16_t enabled;  // how many threads could run; their ids follow
  std::uint16_t reserved2;
};
static_assert(sizeof(ChoiceNote) == 40);

inline constexpr std::uint8_t kFromEnabled = 1;  // `from` could have gone on
inline constexpr std::uint8_t kFromYielded = 2;  // ... and asked for another to run

constexpr std::uint64_t note_bytes(std::uint64_t enabled) {
  return sizeof(ChoiceNote) + round_to(enabled * sizeof(ThreadId), 8);
}

// Slot of a site in the table of quiet sites: an access whose slot is not 0 counts as a point and asks nobody. Sites
// that share a slot with one that matters must not be quiet.
constexpr std::uint64_t quiet_slot(std::uint64_t pc) { return (pc ^ pc >> 16) & (kQuietBytes - 1); }

}  // namespace reweave
