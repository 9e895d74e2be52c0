// Reports that are not wanted, as ThreadSanitizer's suppression files name them: a line `kind:pattern` each.
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

  // Of a file's text. What no kind is known of is ignored, and told by unknown().
  static Suppressions parse(std::string_view text);
  // Throws BadInput if the file cannot be read.
  static Suppressions read(const std::string& path);

  // The first row of that kind which one of the names matches; null if none does. Does not count it.
  Row* find(std::string_view kind, const std::vector<std::string_view>& names);
  bool has(std::string_view kind) const;
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  std::vector<Row> rows_;
  std::vector<std::string> unknown_;  // lines
};

// `pattern` is somewhere in `text`: '*' stands for anything, '^' at its start and '$' at its end for those of the text.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace reweave
