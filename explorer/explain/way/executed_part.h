// Consecutive instructions of one thread, with the values that they read and wrote.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/code/machine_code.h"

namespace reweave {

struct ExecutedStep {
  static constexpr std::size_t kNoEntry = ~std::size_t{0};

  const Instruction* instruction = nullptr;
  std::array<std::uint64_t, kGeneralRegisters> registers = {};  // before it
  std::uint64_t place = 0;                                      // address of the memory that it accesses
  // The values read and written at `place`; nothing if they are longer than 8 bytes.
  std::optional<std::uint64_t> loaded, stored;
  // For a call of code that is not followed: the called function, and the entries of the history that the call made.
  bool passed_over = false;
  std::string callee;
  std::size_t first_entry = kNoEntry, last_entry = kNoEntry;
};

struct ExecutedPart {
  enum class End : std::uint8_t {
    kThere,    // it reaches the requested end
    kRunEnds,  // the process ended
    kUnknown,  // it could not be followed further
  };
  std::vector<ExecutedStep> steps;
  End end = End::kUnknown;
};

}  // namespace reweave
