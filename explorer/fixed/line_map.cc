#include "explorer/fixed/line_map.h"

#include <algorithm>
#include <cstdlib>

namespace reweave {

const std::vector<LineMap::Line>& LineMap::lines_of(const std::string& function) {
  const auto [at, fresh] = lines_.try_emplace(function);
  if (!fresh) return at->second;
  for (const int line : operations_.lines_of(function)) {
    const std::uint64_t pc = operations_.on_line(function, line).front();
    at->second.push_back({line, places_.source_line(pc), pc});
  }
  return at->second;
}

std::optional<std::uint64_t> LineMap::find(const OldStep& step) {
  if (step.operation == 0 || step.source.empty()) return {};
  std::vector<const Line*> same;
  for (const Line& line : lines_of(step.function))
    if (line.text == step.source) same.push_back(&line);
  if (same.empty()) return {};
  if (same.size() == 1) moved_[step.function] = same.front()->number - step.line;
  const int expected = step.line + moved_[step.function];
  const Line& nearest =
      **std::ranges::min_element(same, {}, [&](const Line* line) { return std::abs(line->number - expected); });
  const std::vector<std::uint64_t>& pcs = operations_.on_line(step.function, nearest.number);
  if (step.operation > pcs.size()) return {};
  return pcs[step.operation - 1];
}

}  // namespace reweave
