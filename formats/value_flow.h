// Follows the value of an instrumented load through the machine code of its function: does anything depend on it but
// the data of other instrumented stores?
//
// If a read's value reaches no conditional jump, no address, no call and no return, another value in its place changes
// neither what the thread does next nor which memory it accesses; only what it stores at the places found.
// Conservative: an instruction that is not known, a value that may be in memory that is not followed, or too much code:
// it decides.
//
// Relies on the compiler having announced every access that others can see, and on the calling convention of x86-64
// (System V) where functions of other files are called.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/instrumented_function.h"

namespace reweave {

struct ReadEffect {
  bool decides = true;
  // Places of the stores that the value may reach, as traces have them: what their announcements return to. Sorted.
  std::vector<std::uint64_t> stores;
  std::uint64_t work = 0;  // instructions that were looked at
};

// The effect of the load that the call returning to `place` announced.
ReadEffect effect_of_read(const InstrumentedFunction& function, std::uint64_t place);

}  // namespace reweave
