// A trap in the target's code that strikes only when general registers and some words of memory have given values: a
// jump to a stub that compares them and then executes what the jump took the place of. An instruction of an inner loop
// is executed a billion times in some seconds; a trap of the kernel's costs microseconds each time, this nanoseconds.
// With the baton, and only while the thread that holds it executes that code.
#pragma once

#include "recorder/core/code/moved_code.h"
#include "recorder/core/preempt/instant.h"

namespace reweave::core {

class ValueTrap {
 public:
  // True if there can be such a trap at `address`: what a jump covers there is known code, to the midst of which
  // nothing nearby jumps.
  static bool is_possible(std::uint64_t address);

  struct Values {
    const std::uint64_t* general;  // as PreemptRecord::general; the lower halves are compared
    NamedWords words;              // readable, and NamedWords::kMax at the most
  };
  // At the instruction where the holder is, whose registers are `present`. False if there can be none.
  bool plant(KernelRegisters& present, const Values& wanted);
  void remove();
  bool planted() const { return address_ != 0; }

  // SIGTRAP: `ip` is where the trap that has struck ends. It belongs to address(), or the thread goes on at go_on().
  bool hit(std::uint64_t ip) const { return planted() && ip == struck_; }
  std::uint64_t address() const { return address_; }
  // A write to `at` has faulted because of the trap (code_trap.h): it may be done without.
  bool guards(std::uint64_t at) const;
  std::uint64_t go_on() const { return moved_[0].to; }

  // Where the instruction at `ip` of the stub comes from, if it is one of the target's; else 0.
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
