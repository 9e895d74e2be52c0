// Tables by which compiled code jumps: places that no jump names.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Region;

// True if data of a file near `code` has an address or a distance that leads to `target`. Reads all of it.
bool is_in_jump_table(std::uint64_t target, const Region& code);

}  // namespace reweave::core
