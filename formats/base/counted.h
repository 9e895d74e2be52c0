// Counts of things in messages: "1 run", "2 runs".
#pragma once

#include <concepts>
#include <string>

namespace reweave {

// `noun` is a singular to which an s is appended for more than one.
std::string counted(std::integral auto count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace reweave
