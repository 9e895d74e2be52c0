// Distinguishes source files of libraries from the user's, by their path.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace reweave {

// Headers and sources of the compiler, the C library and other installed packages.
inline constexpr std::array<std::string_view, 5> kLibrarySources = {"/usr/include/", "/usr/lib/", "/usr/local/include/",
                                                                    "/usr/local/lib/", "/usr/src/"};

// Parts of the paths of test frameworks that projects keep a copy of, and of our own header.
inline constexpr std::array<std::string_view, 10> kFrameworkSources = {
    "/include/gtest/", "/include/gmock/", "/googletest/src/",   "/googlemock/src/", "/boost/test/",
    "/catch2/catch",   "/catch.hpp",      "/catch_amalgamated", "/doctest.h",       "/reweave/check.h"};
// Programs and shared libraries of packages.
inline constexpr std::array<std::string_view, 3> kLibraryModules = {"/lib/", "/lib64/", "/usr/lib/"};

inline bool is_library_module(std::string_view path) {
  return std::ranges::any_of(kLibraryModules, [&](std::string_view folder) { return path.starts_with(folder); });
}

// Reweave's own libraries in the target.
inline bool is_of_reweave(std::string_view module) {
  return module.substr(module.rfind('/') + 1).starts_with("libreweave");
}

// False for an empty name.
inline bool is_of_library(std::string_view file) {
  if (std::ranges::any_of(kFrameworkSources, [&](std::string_view part) { return file.find(part) != file.npos; }))
    return true;
  return std::ranges::any_of(kLibrarySources, [&](std::string_view folder) { return file.starts_with(folder); });
}

}  // namespace reweave
