// The events that must happen before an event in every correct reordering: vector clocks, computed in one pass over the
// trace.
//
// Order comes from the thread, from must-order edges, and from reads. A read that decided something (a branch followed)
// must have got its value, so its writer precedes the *branch*; the read itself may come before the writer. A value is
// the original one only if the reads from which it may have been computed were (RVPredict's rule). So a deciding read
// also needs the writers of the reads that were pending in its writer's thread.
//
// Locks order whole sections: if an event inside a section must follow an event inside another section of the lock, the
// other section ended before. Clocks are kept only where they change. Thread-safe once built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

class MustOrder {
 public:
  explicit MustOrder(const TraceModel& model, ReadRule rule = ReadRule::kAllDecide);

  ReadRule rule() const { return rule_; }

  // For each thread, the number of its events that must happen before `e`. The entry of e's own thread has no meaning.
  std::span<const std::uint32_t> before(EventIndex e) const { return actual_[model_.thread[e]].at(model_.position[e]); }

  // The same for reaching `e` without executing it. A thread right before an acquisition has not yet waited for the
  // events that the lock orders before it, nor a thread right before an atomic read for the writer of its value.
  std::vector<std::uint32_t> reaching(EventIndex e) const;

  // True if `a` happens before `b` whenever `b` happens.
  bool ordered(EventIndex a, EventIndex b) const;
  // True if `a` happens before the thread of `b` gets to `b`.
  bool ordered_before_reaching(EventIndex a, EventIndex b) const;

 private:
  // The clocks of one thread: the value at a position is that of the last change at or before it.
  class History {
   public:
    explicit History(std::uint32_t width) : width_(width) { set(0, std::vector<std::uint32_t>(width, 0)); }
    void set(std::uint32_t position, std::span<const std::uint32_t> clock);
    std::span<const std::uint32_t> at(std::uint32_t position) const;

   private:
    std::uint32_t width_;
    std::vector<std::uint32_t> positions_;
    std::vector<std::uint32_t> clocks_;
  };

  void step(EventIndex e);
  // Adds the end of each section that conflicts with one around `e`, if a part of it must come before `e`.
  bool end_sections(EventIndex e);
  bool end_sections_around(EventIndex e, std::vector<std::uint32_t>& now) const;
  bool end_sections_of(EventIndex acquire, std::uint32_t own, std::vector<std::uint32_t>& now) const;
  // Adds `e` and the events that must happen before `e` to `clock`, a clock of thread `own`. With `value`, also adds
  // the events that the value written by `e` needs. True if the clock changed.
  bool join(std::vector<std::uint32_t>& clock, std::uint32_t own, EventIndex e, bool value) const;
  // Updates the needs of the values that the thread writes after `e`. `order_changed`: the order before `e` has
  // changed.
  void step_value(EventIndex e, bool order_changed);
  // The clocks of the thread of `write`, including the events that must precede it because of the value that it writes.
  const History& value_history(EventIndex write) const {
    if (model_.is_blind(write)) return blind_value_[model_.thread[write]];
    const auto& histories = !carried_value_.empty() && model_.carries(write) ? carried_value_ : value_;
    return histories[model_.thread[write]];
  }

  const TraceModel& model_;
  ReadRule rule_;
  std::vector<History> actual_;                    // events that must happen before the event
  std::vector<History> value_;                     // those needed if a value written there must be the original one
  std::vector<History> carried_value_;             // likewise for a kCarries write; empty if no read decides nothing
  std::vector<History> blind_value_;               // likewise for a blind update, and meant only at its position
  std::vector<std::vector<std::uint32_t>> users_;  // by lock: threads that take it
  // By thread: now_ is the current order. pending_ also has the needs of the next decision, valued_ those of the value
  // of the next write, carried_ those of the value of the next kCarries write.
  std::vector<std::vector<std::uint32_t>> now_, pending_, valued_, carried_;
};

}  // namespace reweave
