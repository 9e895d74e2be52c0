// Finds a variable of a stopped thread: evaluates its location in debug information (DWARF 5, 2.5 and 2.6).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace reweave {

// The facts about a thread that a location may use. Each function returns nothing for an unknown value.
struct LocationContext {
  std::function<std::optional<std::uint64_t>(unsigned number)> register_of;  // by DWARF's number
  std::function<std::optional<std::uint64_t>(std::uint64_t address)> word_at;
  std::uint64_t pc = 0;   // in the file
  std::uint64_t cfa = 0;  // canonical frame address
  std::uint64_t bias = 0;
};

struct VariableLocation {
  bool in_memory = false;
  std::uint64_t value = 0;  // its address if it is in memory, else its value or the first word of it
};

// Returns nothing if the variable, or its first word, does not exist at `pc`, or if its location uses an operation that
// is not supported here. `function`: the DIE whose frame base applies.
std::optional<VariableLocation> location_of(Dwarf_Die* variable, Dwarf_Die* function, const LocationContext& context);

}  // namespace reweave
