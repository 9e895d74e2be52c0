// Follows the value of an instrumented load, or the result of an atomic update, through the machine code of its
// function, to find whether anything depends on it except the data of other instrumented stores.
//
// If a read's value reaches no conditional jump, no address, no call and no return, another value would change neither
// what the thread does next nor which memory it accesses. It would only change the data of the stores found here. The
// analysis is conservative: a read decides if there is an unknown instruction, too much code, or memory that may hold
// the value but is not followed.
//
// Relies on the compiler having announced every access that other threads can see, and on the calling convention of
// x86-64 (System V) for calls to functions of other files.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/code/instrumented_function.h"

namespace reweave {

struct ReadEffect {
  bool decides = true;
  // Places of the stores that the value may reach, as in traces: the return addresses of their announcements. Sorted.
  std::vector<std::uint64_t> stores;
  std::uint64_t work = 0;  // instructions examined
};

// The effect of the load that the call returning to `place` announced.
ReadEffect effect_of_read(const InstrumentedFunction& function, std::uint64_t place);
// The effect of the old value of the atomic update whose call returns to `place`. It decides if it is stored where
// others may see it.
ReadEffect effect_of_update(const InstrumentedFunction& function, std::uint64_t place);

}  // namespace reweave
