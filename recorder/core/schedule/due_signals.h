// Which of the signals that came to a thread is to be delivered at this point: of those in its queue, or replaying the
// recorded one.
//
// Thread rule: the baton holder, of itself; signal_pending anybody's.
#pragma once

#include "recorder/core/log/log.h"

namespace reweave::core {

// True if a queued signal waits for `thread`.
inline bool signal_pending(const Thread& thread) { return thread.queued.load() != 0; }

// The first queued signal that the target does not block, or Thread::queued.
std::uint32_t first_deliverable(const Thread& me);

// True if a signal is to be delivered to `thread` at this very point.
bool queued_signal_due(const Thread& thread);
bool recorded_signal_due(const Thread& thread);
inline bool signal_due(const Thread& thread) {
  if (!replaying()) return signal_pending(thread) && queued_signal_due(thread);
  const wire::RecordHeader* next = peek_record();
  return next != nullptr && next->kind == static_cast<std::uint16_t>(wire::RecordKind::kSignal) &&
         recorded_signal_due(thread);
}

}  // namespace reweave::core
