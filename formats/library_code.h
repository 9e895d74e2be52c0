// Which source files are a library's rather than the user's, by where they lie.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace reweave {

// Headers and sources of the compiler, the C library and whatever else the system has installed.
inline constexpr std::array<std::string_view, 5> kLibrarySources = {"/usr/include/", "/usr/lib/", "/usr/local/include/",
                                                                    "/usr/local/lib/", "/usr/src/"};

// False for no name.
inline bool is_of_library(std::string_view file) {
  if (file.ends_with("/reweave/check.h")) return true;  // wherever it is
  return std::ranges::any_of(kLibrarySources, [&](std::string_view folder) { return file.starts_with(folder); });
}

}  // namespace reweave
