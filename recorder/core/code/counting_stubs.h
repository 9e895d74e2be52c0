// Instrumented accesses without the way through the procedure linkage table: each `call __tsan_read8` of an object
// becomes a jump to a stub of its own, which counts the access and jumps back. Only runs that do nothing but count are
// changed, and no debugged one: a debugger would lose its way in code without symbols.
//
// A stub leaves what the call would have left, registers, flags and the return address below the stack pointer
// included, so that patched and unpatched runs are the same to the program.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core_api.h"

namespace reweave::core {

// Fills the slots in the object's memory that say where `functions` are, and leaves them out of hashes: traced runs
// have others, and the loader, which would fill a slot at the first call through it, would do so at other times. If
// `only_counting`, gives the calls of `functions` in the object's code their stubs, as far as there is room for them.
// With the baton.
void note_instrumented(const LoadedObject& object, const CountedFunctions& functions, bool only_counting);

}  // namespace reweave::core
