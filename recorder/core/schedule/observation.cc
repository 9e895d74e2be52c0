#include "recorder/core/schedule/observation.h"

#include "recorder/core/base/context.h"
#include "recorder/observation.h"

namespace reweave::core {

namespace {

NotesHeader& notes() { return *reinterpret_cast<NotesHeader*>(kArenaBase + kNotesOffset); }

// Returns the place of a note of that size; null if the note is not kept.
ChoiceNote* take_room(std::uint64_t bytes) {
  NotesHeader& header = notes();
  const std::uint64_t base = kArenaBase + kNotesOffset;
  const bool fair = in_fair_part();
  if (fair && state().step + kTailPoints >= config().tick_budget) {
    if (header.tail_bytes + bytes > kTailNotesBytes) return nullptr;
    header.tail_bytes += bytes;
    return reinterpret_cast<ChoiceNote*>(base + kTailNotesOffset + header.tail_bytes - bytes);
  }
  if (fair || header.truncated != 0 || sizeof header + header.bytes + bytes > kTailNotesOffset) {
    header.truncated = 1;
    return nullptr;
  }
  header.bytes += bytes;
  return reinterpret_cast<ChoiceNote*>(base + sizeof header + header.bytes - bytes);
}

}  // namespace

void clear_notes() { notes() = {}; }

void note_choice(const ChoiceArgs& args, ThreadId chosen) {
  if (config().observe == 0) return;
  ChoiceNote* note = take_room(note_bytes(args.count));
  if (note == nullptr) return;
  const Thread& thread = args.threads[chosen];
  const auto flags = static_cast<std::uint8_t>((args.current_enabled ? kFromEnabled : 0) |
                                               (args.current_enabled && args.yielded ? kFromYielded : 0));
  *note = {thread.op.object,
           thread.op.pc,
           static_cast<std::uint32_t>(thread.ticks),
           thread.op.detail,
           static_cast<std::uint32_t>(args.step),
           chosen,
           args.current.id,
           static_cast<std::uint8_t>(thread.op.kind),
           thread.op.is_write,
           flags,
           0,
           static_cast<std::uint16_t>(args.count),
           0};
  auto* enabled = reinterpret_cast<ThreadId*>(note + 1);
  for (std::uint32_t i = 0; i < args.count; i++) enabled[i] = args.enabled[i];
}

}  // namespace reweave::core
