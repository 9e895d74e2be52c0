// The words of STD text and their meanings (std_format.h has the grammar).
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/event.h"
#include "formats/text/std_format.h"

namespace reweave {

// The number of the system call that ends a process.
inline constexpr std::uint64_t kExitGroup = 231;

// Size of a variable that is only a name, and memory order (sequentially consistent) of its atomic accesses.
inline constexpr std::uint64_t kNamedBytes = 8;
inline constexpr std::uint8_t kNamedOrder = 5;

// The operand of a word, in parentheses.
enum class Operand : std::uint8_t {
  kVariable,
  kAtomic,     // variable and memory order
  kMemory,     // bytes at an address
  kBlock,      // address of a heap block
  kLock,       // lock, condition, barrier or semaphore
  kCondition,  // condition and mutex
  kThread,
  kProcess,
  kNothing,
  kExit,
};

struct StdWord {
  std::string_view word;
  EventKind kind;
  std::uint8_t aux;
  Operand operand;
  bool field;  // known to every reader, not an extension
};

// The row of a word, or null.
const StdWord* std_word(std::string_view word);
// The row that an event is written with, or null if the dialect has none.
const StdWord* std_word_for(const TraceEvent& event, StdDialect dialect);

}  // namespace reweave
