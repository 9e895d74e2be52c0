#include "predictor/races/suppressions.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "formats/base/error.h"
#include "formats/elf/source_lines.h"

namespace reweave {

namespace {

constexpr const char* kSuppressionKinds[] = {"race",   "race_top",        "mutex",   "thread",
                                             "signal", "called_from_lib", "deadlock"};

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  if (text.empty()) return false;
  const bool from_start = pattern.starts_with('^');
  if (from_start) pattern.remove_prefix(1);
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  bool fixed = from_start;  // the next part must match at the start of the remaining text
  while (!pattern.empty()) {
    if (pattern.front() == '*') {
      fixed = false;
      pattern.remove_prefix(1);
      continue;
    }
    const std::string_view part = pattern.substr(0, pattern.find('*'));
    pattern.remove_prefix(part.size());
    if (to_end && pattern.empty()) {
      const bool is_whole = !fixed || text.size() == part.size();
      return is_whole && text.ends_with(part);
    }
    const std::size_t at = text.find(part);
    if (at == text.npos || (fixed && at != 0)) return false;
    text.remove_prefix(at + part.size());
    fixed = true;
    if (!pattern.empty()) fixed = false;  // a '*' follows
  }
  return !to_end || !fixed || text.empty();
}

Suppressions Suppressions::parse(std::string_view text) {
  Suppressions result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(':');
    const std::string_view kind = line.substr(0, colon);
    if (colon == line.npos ||
        std::find(std::begin(kSuppressionKinds), std::end(kSuppressionKinds), kind) == std::end(kSuppressionKinds))
      result.unknown_.emplace_back(line);
    else
      result.rows_.push_back({std::string(kind), std::string(line.substr(colon + 1))});
  }
  return result;
}

Suppressions Suppressions::read(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file, "the suppressions of TSAN_OPTIONS cannot be read: {}", path);
  return parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

bool Suppressions::has(std::string_view kind) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.kind == kind; });
}

Suppressions::Row* Suppressions::find(std::string_view kind, const std::vector<std::string_view>& names) {
  for (Row& row : rows_) {
    if (row.kind != kind) continue;
    for (const std::string_view name : names)
      if (matches_pattern(row.pattern, name)) return &row;
  }
  return nullptr;
}

}  // namespace reweave
