// Finds the sources of a value: goes backward through the registers and the memory of executed instructions.
//
// Nothing is guessed: the instructions and the addresses of their accesses are those of the run. Only data is followed,
// not branches, nor the computation of addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/explain/way/executed_part.h"
#include "explorer/explain/way/history.h"

namespace reweave {

struct ValueSource {
  enum class Kind : std::uint8_t {
    kLoad,     // read from memory at `step`
    kCall,     // the result of a call that was not followed, at `step`
    kEarlier,  // older than the part
    kUnknown,  // an instruction at `step` that is not understood
  };
  Kind kind = Kind::kLoad;
  std::size_t step = 0;
  // For kLoad: the entry of the history that announced it, or kNone.
  std::size_t entry = AccessHistory::kNone;

  auto operator<=>(const ValueSource&) const = default;
};

// The sources of the values in `registers` before step `end` of the part, the latest first. Empty if they are
// constants.
std::vector<ValueSource> sources_of(const ExecutedPart& part, std::size_t end, RegisterSet registers,
                                    const AccessHistory& history);
// The sources of the operands of the instruction at `step`: its registers and the memory that it reads.
std::vector<ValueSource> sources_of_operands(const ExecutedPart& part, std::size_t step, const AccessHistory& history);

// The step that loaded the constant in `registers`, if their values come from one constant and nothing else.
std::optional<std::size_t> constant_of(const ExecutedPart& part, std::size_t end, RegisterSet registers,
                                       const AccessHistory& history);

}  // namespace reweave
