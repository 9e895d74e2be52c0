// A trap (int3) in the target's code that replaces the first byte of an instruction. If the target reads that byte,
// which is rare, it reads a wrong value. If the code's page is writable, it is write-protected: code generated after
// the trap was planted would lack it. Thread rule: the baton holder only.
#pragma once

#include <cstdint>

namespace reweave::core {

struct CodeTrap {
  std::uint64_t address;  // 0: no trap is planted
  std::uint8_t original;
  bool guarded;  // the page is writable for the target

  // False: there is no code at `at`.
  bool plant(std::uint64_t at);
  void remove();
  // Between plant and remove: lift puts the original instruction back; set_again sets the trap again, in the code that
  // is there by then.
  void lift() const;
  void set_again();
  // True if a write to `at` faults because of the trap; it can be made while the trap is lifted.
  bool guards(std::uint64_t at) const;
  // On SIGTRAP: `ip` is just past the trap.
  bool hit(std::uint64_t ip) const { return address != 0 && ip == address + 1; }
};

}  // namespace reweave::core
