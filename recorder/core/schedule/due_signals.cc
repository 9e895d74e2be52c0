#include "recorder/core/schedule/due_signals.h"

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

std::uint32_t first_deliverable(const Thread& me) {
  const std::uint32_t n = me.queued.load();
  std::uint32_t i = 0;
  while (i < n && (me.signal_mask & signal_bit(static_cast<int>(me.signals[i].number))) != 0) i++;
  return i;
}

bool queued_signal_due(const Thread& thread) { return first_deliverable(thread) < thread.queued.load(); }

bool recorded_signal_due(const Thread& thread) {
  const auto& record = wire::record_cast<wire::SignalRecord>(*peek_record());
  return record.header.thread == thread.id && record.step == state().step && (record.flags & 1) != 0;
}

}  // namespace reweave::core
