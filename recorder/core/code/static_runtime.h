// Programs with ThreadSanitizer's runtime linked in, as clang does by default. Their code calls it directly, and
// libraries find malloc, memcpy and hundreds of other functions in it, because the program exports them. It must not
// run: the shim replaces it (shim/tsan/static_runtime.cc).
#pragma once

#include "recorder/core/image/elf_loader.h"

namespace reweave::core {

// If `image` exports such a runtime, hides its functions from the dynamic loader by making their symbols local, and
// makes its initialiser return at once. The same in every mode. Returns whether the program needs the shim of
// instrumented programs, because of such a runtime or because it has sleds (sleds.h).
bool prepare_instrumented(const LoadedImage& image);

}  // namespace reweave::core
