// Lines of source files named by debug information, which may be hostile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reweave {

// All lines of the regular file at `path`. If there is none, looks below the working directory for a file with the last
// parts of its name, at least two, because recordings may come from another checkout. Empty if it cannot be read or is
// too large for a source file.
std::vector<std::string> source_lines(const std::string& path);

// The text up to its first line break.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// The text without the white space around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace reweave
