// Jump tables of compiled code: targets that appear in no jump instruction.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Region;

// True if data of a file near `code` contains an address or distance that leads to `target`. Reads all of that data.
bool is_in_jump_table(std::uint64_t target, const Region& code);

}  // namespace reweave::core
