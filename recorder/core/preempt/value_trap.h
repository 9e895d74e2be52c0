// A trap in the target's code that fires only if general registers and some words of memory have given values: a jump
// to a stub that compares them and then executes the instructions that the jump replaced. An inner loop executes an
// instruction a billion times within seconds; a kernel trap costs microseconds each time, this one nanoseconds. Thread
// rule: the baton holder only, and only while it executes that code.
#pragma once

#include "recorder/core/code/moved_code.h"
#include "recorder/core/preempt/instant.h"

namespace reweave::core {

class ValueTrap {
 public:
  // True if such a trap is possible at `address`: the jump covers only known instructions, and no nearby code jumps
  // into the middle of them.
  static bool is_possible(std::uint64_t address);

  struct Values {
    const std::uint64_t* general;  // as PreemptRecord::general; the lower halves are compared
    NamedWords words;              // readable, at most NamedWords::kMax
  };
  // Plants the trap at the holder's current instruction; `present` are its registers. False if that is impossible.
  bool plant(KernelRegisters& present, const Values& wanted);
  void remove();
  bool planted() const { return address_ != 0; }

  // On SIGTRAP: true if `ip` is the end of the trap in the stub. The instant is at address(); otherwise the thread
  // continues at resume_address().
  bool hit(std::uint64_t ip) const { return planted() && ip == struck_; }
  std::uint64_t address() const { return address_; }
  // True if a write to `at` faults because of the trap (code_trap.h); it can be made once the trap is removed.
  bool guards(std::uint64_t at) const;
  std::uint64_t resume_address() const { return moved_[0].to; }

  // The original address of the moved instruction at `ip` in the stub; 0 if there is none.
  std::uint64_t origin(std::uint64_t ip) const;

 private:
  bool write_stub(KernelRegisters& present, const Values& wanted);
  int protection() const;

  std::uint64_t address_, covered_, stub_, struck_;
  std::uint32_t count_;
  Moved moved_[kJumpBytes];
  std::uint8_t original_[kJumpBytes];
};

}  // namespace reweave::core
