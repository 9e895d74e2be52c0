// Instructions that one thread executed one after the other, with what they read and wrote.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/machine_code.h"

namespace reweave {

struct ExecutedStep {
  static constexpr std::size_t kNoEntry = ~std::size_t{0};

  const Instruction* instruction = nullptr;
  std::array<std::uint64_t, kGeneralRegisters> registers = {};  // before it
  std::uint64_t place = 0;                                      // of the memory that it accesses
  // What lies at `place`, as far as 8 bytes hold it.
  std::optional<std::uint64_t> loaded, stored;
  // A call of code that is not followed: what is called, and the entries of the history that came of it.
  bool passed_over = false;
  std::string callee;
  std::size_t first_entry = kNoEntry, last_entry = kNoEntry;
};

struct ExecutedPart {
  enum class End : std::uint8_t {
    kThere,    // it ends where it was to end
    kRunEnds,  // the process ended
    kUnknown,  // it could not be followed further
  };
  std::vector<ExecutedStep> steps;
  End end = End::kUnknown;
};

}  // namespace reweave
