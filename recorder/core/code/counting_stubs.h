// Instrumented accesses without the detour through the procedure linkage table: each `call __tsan_read8` in an object
// becomes a jump to a stub of its own, which counts the access and jumps back. Only in runs that do nothing but count,
// and not in debugged ones: a debugger would get lost in code without symbols.
//
// A stub leaves what the call would have left, including registers, flags and the return address below the stack
// pointer, so that the program sees no difference between patched and unpatched runs.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core_api.h"

namespace reweave::core {

// Fills in the slots in the object's memory that hold the addresses of `functions`, and excludes them from hashes:
// traced runs have other addresses, and the loader, which fills a slot at the first call through it, would do so at
// other times. If `only_counting`, gives the calls of `functions` in the object's code their stubs, as far as there is
// room. Thread rule: the baton holder only.
void note_instrumented(const LoadedObject& object, const CountedFunctions& functions, bool only_counting);

}  // namespace reweave::core
