// The words of memory that a thread writes to while it is looked at (loop_probe.h), and which of them are others each
// time that it comes back to where the look began.
#pragma once

#include "recorder/core/preempt/preemption.h"

namespace reweave::core {

class TouchedWords {
 public:
  // Before the instruction that writes at `address`, of which it is not known how much.
  void note_write(std::uint64_t address);
  // The thread is where its turns are taken to begin. / It has come back there.
  void begin_turn();
  void note_turn();

  bool none() const { return count_ == 0; }
  // Of the values that they have, at least of those that there was room for.
  std::uint64_t hash() const;

  // Adds all of them to a loop's changes, which are not known if they are too many.
  void add_to(LoopChanges& changes) const;
  // Those by which a turn is told from others best: what no turn leaves as it was, then what was written to at all.
  // None that is dead: below the stack pointer the runs may differ, but for what a function that calls none keeps
  // there.
  LoopChanges telling(std::uint64_t sp) const;

 private:
  static constexpr std::uint32_t kMax = 512;
  struct Word {
    std::uint64_t address;
    std::uint64_t value;  // when a turn began
    bool first;           // of a write
    bool varies;
  };
  void note(std::uint64_t address, bool first);

  std::uint32_t count_;
  bool too_many_;
  Word words_[kMax];
};

}  // namespace reweave::core
