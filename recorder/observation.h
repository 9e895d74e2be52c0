// Observations of an explored run for the search: each choice of the policy, in sequence in the arena.
//
//   NotesHeader | ChoiceNote, its enabled threads (u16 each, padded to 8) | ChoiceNote, ... | the tail: likewise |
//
// A run that has used up its schedule points continues under the fair schedule. Choices made there are left out, except
// for the last ones of a run that does not end. These are the tail, which shows the loops that the run does not leave.
//
// The chosen thread then executes `kind` on `object` and continues up to its next schedule point. A thread that blocked
// in its operation is chosen again with the same `tick` when it continues. Written by the baton holder; read by the
// supervisor after the run.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

struct NotesHeader {
  std::uint64_t bytes;       // written after this header
  std::uint64_t truncated;   // 1: later choices were left out
  std::uint64_t tail_bytes;  // written at kTailNotesOffset
};
// The tail begins this many schedule points before the run's last one.
inline constexpr std::uint64_t kTailPoints = 1024;
inline constexpr std::uint64_t kTailNotesBytes = 256 << 10;
inline constexpr std::uint64_t kTailNotesOffset = kNotesBytes - kTailNotesBytes;

struct ChoiceNote {
  std::uint64_t object;  // object of the chosen thread's operation
  std::uint64_t pc;
  std::uint32_t tick;  // schedule points of the chosen thread, including this one
  std::uint32_t detail;
  std::uint32_t step;
  std::uint16_t thread;  // the chosen thread
  std::uint16_t from;    // the thread that had the baton before
  std::uint8_t kind;     // OpKind
  std::uint8_t is_write;
  std::uint8_t flags;  // kFrom...
  std::uint8_t reserved;
  std::uint16_t enabled;  // number of threads that could run; their IDs follow
  std::uint16_t reserved2;
};
static_assert(sizeof(ChoiceNote) == 40);

inline constexpr std::uint8_t kFromEnabled = 1;  // `from` could have continued
inline constexpr std::uint8_t kFromYielded = 2;  // ... and offered to let another thread run

constexpr std::uint64_t note_bytes(std::uint64_t enabled) {
  return sizeof(ChoiceNote) + round_to(enabled * sizeof(ThreadId), 8);
}

// Returns a site's slot in the table of quiet sites. If the slot does not hold 0, an access there counts as a schedule
// point, but the policy is not asked. A site that shares its slot with a relevant one must not be quiet.
constexpr std::uint64_t quiet_slot(std::uint64_t pc) { return (pc ^ pc >> 16) & (kQuietBytes - 1); }

}  // namespace reweave
