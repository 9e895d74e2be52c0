#include "explorer/words/suggestion.h"

#include <algorithm>
#include <vector>

namespace reweave {

namespace {

// The optimal string alignment distance: rows are the prefixes of `a`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> changes(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); i++) {
    for (std::size_t j = 0; j <= b.size(); j++) {
      std::size_t& least = changes[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      const std::size_t exchanged = changes[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least = std::min({changes[i - 1][j] + 1, changes[i][j - 1] + 1, exchanged});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, changes[i - 2][j - 2] + 1);
    }
  }
  return changes[a.size()][b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names) {
  constexpr std::size_t kLongest = 64;  // no known name is longer
  if (given.size() > kLongest) return {};
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t changes = distance(given, name);
    if (changes >= least) continue;
    least = changes;
    nearest = name;
  }
  return nearest;
}

}  // namespace reweave
