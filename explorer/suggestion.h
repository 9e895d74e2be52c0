// "Did you mean": the known name that a mistyped one is nearest to.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace reweave {

// The name that `given` becomes by the fewest changes (a letter added, left out, exchanged for another, or for its
// neighbour), or empty if it takes more than about one in three letters.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

}  // namespace reweave
