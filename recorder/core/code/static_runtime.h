// Programs with ThreadSanitizer's runtime linked into them, as clang does by default. Their code calls it directly, and
// the libraries find malloc, memcpy and hundreds more in it, for the program exports its functions. It must not run:
// the shim has its place (shim/tsan/static_runtime.cc).
#pragma once

#include "recorder/core/image/elf_loader.h"

namespace reweave::core {

// If `image` exports such a runtime, hides its functions from the dynamic loader, by making their symbols local, and
// makes its initialiser return at once. The same in every mode. True if it did.
bool detach_static_runtime(const LoadedImage& image);

}  // namespace reweave::core
