// Knows which arguments of a call the kernel ignores. Old values in their registers are not part of the call.
#pragma once

namespace reweave::core {

// True if the call with these arguments does not use argument number `index`.
bool is_unused(long number, const long (&arguments)[6], int index);

}  // namespace reweave::core
