// "Did you mean": finds the known name nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace reweave {

// The name that takes the fewest changes from `given` (a letter added, left out, replaced, or swapped with its
// neighbour); empty if that is more than about one change per three letters.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

}  // namespace reweave
