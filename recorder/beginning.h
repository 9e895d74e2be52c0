// Where explored runs begin, and from where on their memory is watched, in one word (RunConfig::fork_at,
// Manifest::heap_checks_from): 0 is main, an address the first entry of the function there, and with kAtPoint it is the
// number of a schedule point, before whose operation they begin.
#pragma once

#include <cstdint>

namespace reweave {

inline constexpr std::uint64_t kAtPoint = std::uint64_t{1} << 63;

constexpr bool is_at_point(std::uint64_t beginning) { return (beginning & kAtPoint) != 0; }
// The number of that point; 0: it is none.
constexpr std::uint64_t point_of(std::uint64_t beginning) { return is_at_point(beginning) ? beginning & ~kAtPoint : 0; }

}  // namespace reweave
