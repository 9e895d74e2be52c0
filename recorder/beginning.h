// The place where explored runs begin (RunConfig::fork_at), or from which their memory is watched
// (Manifest::heap_checks_from), in one word. 0: main. An address: the first entry of the function there. With kAtPoint:
// the number of a schedule point, before its operation.
#pragma once

#include <cstdint>

namespace reweave {

inline constexpr std::uint64_t kAtPoint = std::uint64_t{1} << 63;

constexpr bool is_at_point(std::uint64_t beginning) { return (beginning & kAtPoint) != 0; }
// The number of that point; 0 if the place is not a schedule point.
constexpr std::uint64_t point_of(std::uint64_t beginning) { return is_at_point(beginning) ? beginning & ~kAtPoint : 0; }

}  // namespace reweave
