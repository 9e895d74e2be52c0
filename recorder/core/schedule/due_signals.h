// Decides which of a thread's signals is delivered at this point: one in its queue, or in a replay the recorded one.
//
// Thread rule: the baton holder, for itself; signal_pending: any thread.
#pragma once

#include "recorder/core/log/log.h"

namespace reweave::core {

// True if a signal is queued for `thread`.
inline bool signal_pending(const Thread& thread) { return thread.queued.load() != 0; }

// Index of the first queued signal that the target does not block, or Thread::queued.
std::uint32_t first_deliverable(const Thread& me);

// True if a signal is to be delivered to `thread` at exactly this point.
bool queued_signal_due(const Thread& thread);
bool recorded_signal_due(const Thread& thread);
inline bool signal_due(const Thread& thread) {
  if (!replaying()) return signal_pending(thread) && queued_signal_due(thread);
  const wire::RecordHeader* next = peek_record();
  return next != nullptr && next->kind == static_cast<std::uint16_t>(wire::RecordKind::kSignal) &&
         recorded_signal_due(thread);
}

}  // namespace reweave::core
