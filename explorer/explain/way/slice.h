// What a value was computed from: goes backward through the registers and the memory of executed instructions.
//
// Nothing is guessed: the instructions are those that were executed, with the addresses that they accessed. Only data
// is followed, not the branches that led there, nor the addresses from which something was loaded.
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
    kEarlier,  // it is older than the part
    kUnknown,  // the instruction at `step` is not understood
  };
  Kind kind = Kind::kLoad;
  std::size_t step = 0;
  // Of a load: the entry of the history with which it was announced, or kNone.
  std::size_t entry = AccessHistory::kNone;

  auto operator<=>(const ValueSource&) const = default;
};

// What `registers` held before step `end` of the part. No source: constants. The latest source comes first.
std::vector<ValueSource> sources_of(const ExecutedPart& part, std::size_t end, RegisterSet registers,
                                    const AccessHistory& history);
// What the instruction at `step` computes its result from: its registers, and the memory that it reads.
std::vector<ValueSource> sources_of_operands(const ExecutedPart& part, std::size_t step, const AccessHistory& history);

// The step that put a constant where `registers` came from, if it is one constant and nothing else.
std::optional<std::size_t> constant_of(const ExecutedPart& part, std::size_t end, RegisterSet registers,
                                       const AccessHistory& history);

}  // namespace reweave
