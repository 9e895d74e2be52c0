// A trap (int3) in the target's code in place of an instruction's first byte. What the target reads there, it reads
// wrong; it seldom does. With the baton.
#pragma once

#include <cstdint>

namespace reweave::core {

struct CodeTrap {
  std::uint64_t address;  // 0: there is none
  std::uint8_t original;

  // False: there is no code at `at`.
  bool plant(std::uint64_t at);
  void remove();
  // For a while, between plant and remove: the original instruction, and the trap again.
  void lift() const;
  void set_again() const;
  // SIGTRAP: `ip` is behind it.
  bool hit(std::uint64_t ip) const { return address != 0 && ip == address + 1; }
};

}  // namespace reweave::core
