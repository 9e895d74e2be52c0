// Where a variable is in a stopped thread: evaluates its location in debug information (DWARF 5, 2.5 and 2.6).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace reweave {

// What a location may ask of the thread. Each returns nothing for what is not known.
struct LocationContext {
  std::function<std::optional<std::uint64_t>(unsigned number)> register_of;  // of the frame, by DWARF's number
  std::function<std::optional<std::uint64_t>(std::uint64_t address)> word_at;
  std::uint64_t pc = 0;   // in the file
  std::uint64_t cfa = 0;  // canonical frame address
  std::uint64_t bias = 0;
};

struct VariableLocation {
  bool in_memory = false;
  std::uint64_t value = 0;  // its address if it is in memory, else what it holds, or its first word
};

// Nothing if the variable is not there at `pc`, or its first word is not, or its location uses an operation that is not
// known here. `function`: the DIE whose frame base counts.
std::optional<VariableLocation> location_of(Dwarf_Die* variable, Dwarf_Die* function, const LocationContext& context);

}  // namespace reweave
