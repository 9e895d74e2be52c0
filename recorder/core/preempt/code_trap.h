// A trap (int3) in the target's code in place of an instruction's first byte. What the target reads there, it reads
// wrong; it seldom does. Where it may write to code, the trap's page is protected from that: code that is made after
// the trap was planted would be without it. With the baton.
#pragma once

#include <cstdint>

namespace reweave::core {

struct CodeTrap {
  std::uint64_t address;  // 0: there is none
  std::uint8_t original;
  bool guarded;  // the target may write there

  // False: there is no code at `at`.
  bool plant(std::uint64_t at);
  void remove();
  // For a while, between plant and remove: the original instruction, and the trap again, in whatever is there by then.
  void lift() const;
  void set_again();
  // A write to `at` has faulted because of the trap: it may be done while that is lifted.
  bool guards(std::uint64_t at) const;
  // SIGTRAP: `ip` is behind it.
  bool hit(std::uint64_t ip) const { return address != 0 && ip == address + 1; }
};

}  // namespace reweave::core
