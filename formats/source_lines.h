// Lines of source files, which debug information names: it may be a stranger's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reweave {

// All lines of the regular file at `path`; none if it cannot be read or is larger than source files are.
std::vector<std::string> source_lines(const std::string& path);

// The text without the white space around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace reweave
