// The choices of a run, as the search reads them (recorder/observation.h has the form in shared memory).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recorder/observation.h"

namespace reweave {

// The choices of one run, in order.
class Observation {
 public:
  Observation() = default;
  // Reads the core's notes at `notes`.
  explicit Observation(const std::byte* notes);
  // Restores an observation from the results of notes(), enabled_pool(), truncated() and tail().
  Observation(std::span<const ChoiceNote> notes, std::span<const ThreadId> enabled_pool, bool truncated,
              std::vector<ChoiceNote> tail = {});

  std::size_t size() const { return choices_.size(); }
  bool empty() const { return choices_.empty(); }
  bool truncated() const { return truncated_; }
  const ChoiceNote& operator[](std::size_t i) const { return choices_[i]; }
  std::span<const ThreadId> enabled(std::size_t i) const;

  // True if the chosen thread resumes an operation in which it had blocked.
  bool resumed(std::size_t i) const { return resumed_[i]; }
  // True if a thread that could continue was stopped.
  bool preempted(std::size_t i) const {
    return choices_[i].thread != choices_[i].from && choices_[i].flags == kFromEnabled;
  }
  const std::vector<ChoiceNote>& notes() const { return choices_; }
  const std::vector<ThreadId>& enabled_pool() const { return enabled_; }
  // The last choices of a run that a fair schedule did not end: the loops of its threads.
  const std::vector<ChoiceNote>& tail() const { return tail_; }
  std::uint32_t threads() const { return threads_; }  // greatest id + 1

  // For models in tests.
  void append(const ChoiceNote& note, std::span<const ThreadId> enabled);

 private:
  std::vector<ChoiceNote> choices_;
  std::vector<std::size_t> enabled_at_;
  std::vector<ThreadId> enabled_;
  std::vector<bool> resumed_;
  std::vector<std::uint64_t>
      last_tick_;  // by thread: the index of the thread's latest choice, plus one; 0 if it has none
  std::uint32_t threads_ = 0;
  bool truncated_ = false;
  std::vector<ChoiceNote> tail_;
};

inline OpKind kind_of(const ChoiceNote& note) { return static_cast<OpKind>(note.kind); }
PendingOp operation_of(const ChoiceNote& note);
// True if the operation synchronises threads or releases a heap block, and is not an access to memory.
bool is_sync(const ChoiceNote& note);
// True if the operation releases a heap block.
inline bool is_release(const ChoiceNote& note) { return kind_of(note) == OpKind::kOther; }
// True if the order of the two operations matters: the same object, and not two reads.
bool dependent(const ChoiceNote& a, const ChoiceNote& b);

}  // namespace reweave
