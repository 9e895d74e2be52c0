#include "recorder/core/schedule/observation.h"

#include "recorder/core/base/context.h"
#include "recorder/observation.h"

namespace reweave::core {

namespace {

NotesHeader& notes() { return *reinterpret_cast<NotesHeader*>(kArenaBase + kNotesOffset); }

}  // namespace

void clear_notes() { notes() = {}; }

void note_choice(const ChoiceArgs& args, ThreadId chosen) {
  if (config().observe == 0) return;
  NotesHeader& header = notes();
  const std::uint64_t bytes = note_bytes(args.count);
  if (header.truncated != 0 || sizeof header + header.bytes + bytes > kNotesBytes) {
    header.truncated = 1;
    return;
  }
  auto* note = reinterpret_cast<ChoiceNote*>(kArenaBase + kNotesOffset + sizeof header + header.bytes);
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
  header.bytes += bytes;
}

}  // namespace reweave::core
