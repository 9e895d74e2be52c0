// Suppressed reports, in the format of ThreadSanitizer's suppression files: one line `kind:pattern` each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reweave {

class Suppressions {
 public:
  struct Row {
    std::string kind, pattern;
    std::uint64_t matched = 0;
  };

  // Parses a file's text. Lines of unknown kind are ignored, and listed by unknown().
  static Suppressions parse(std::string_view text);
  // Throws BadInput if the file cannot be read.
  static Suppressions read(const std::string& path);

  // The first row of that kind whose pattern matches one of the names; null if there is none. Does not count the match.
  Row* find(std::string_view kind, const std::vector<std::string_view>& names);
  bool has(std::string_view kind) const;
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  std::vector<Row> rows_;
  std::vector<std::string> unknown_;  // lines
};

// True if `pattern` occurs in `text`: '*' matches anything, '^' at its start and '$' at its end anchor it.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace reweave
