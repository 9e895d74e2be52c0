// The words of memory to which a thread writes during a probe (loop_probe.h), and those of them that change from one
// iteration to the next.
#pragma once

#include "recorder/core/preempt/preemption.h"

namespace reweave::core {

class TouchedWords {
 public:
  // Called before an instruction that writes an unknown number of bytes at `address`.
  void note_write(std::uint64_t address);
  // The thread is at the start of an iteration. / It has returned there.
  void begin_turn();
  void note_turn();

  bool none() const { return count_ == 0; }
  // Hash of the present values of the words that there was room for.
  std::uint64_t hash() const;

  // Adds all words to a loop's changes, which become unknown if there are too many.
  void add_to(LoopChanges& changes) const;
  // The words that best tell iterations apart: first those that changed in an iteration, then the others that were
  // written to. Dead words are left out: below the stack pointer and its red zone, runs may differ.
  LoopChanges telling(std::uint64_t sp) const;

 private:
  static constexpr std::uint32_t kMax = 512;
  struct Word {
    std::uint64_t address;
    std::uint64_t value;  // at the start of the iteration
    bool first;           // the first word of a write
    bool varies;
  };
  void note(std::uint64_t address, bool first);

  std::uint32_t count_;
  bool too_many_;
  Word words_[kMax];
};

}  // namespace reweave::core
