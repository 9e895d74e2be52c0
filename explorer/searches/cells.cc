#include "explorer/searches/cells.h"

#include <algorithm>
#include <set>

#include "explorer/campaign/sharing.h"
#include "recorder/splitmix.h"

namespace reweave {

namespace {

constexpr std::size_t kMostCells = 100'000;
constexpr std::uint64_t kDrawn = 16;  // number of cells from which the best is taken
// Only this many first choices of a run are examined, because a path costs memory.
constexpr std::size_t kLongestWay = 20'000;

// The first choice at which each thread was known to exist; the run's size if never.
std::vector<std::size_t> births_of(const Observation& run) {
  std::vector<std::size_t> born(run.threads(), run.size());
  for (std::size_t i = run.size(); i-- > 0;) {
    born[run[i].thread] = i;
    for (const ThreadId id : run.enabled(i))
      if (id < born.size()) born[id] = i;
  }
  return born;
}

}  // namespace

std::vector<std::uint64_t> cells_of(const Observation& run) {
  std::vector<bool> meets(run.size(), false);
  for (const SharedObject& object : shared_objects(run))
    for (const std::size_t i : object.operations) meets[i] = true;
  std::vector<std::vector<std::size_t>> operations(run.threads());  // of each thread on shared objects, the last first
  for (std::size_t i = run.size(); i-- > 0;)
    if (meets[i]) operations[run[i].thread].push_back(i);
  const std::vector<std::size_t> born = births_of(run);
  auto after = [&](std::size_t i) {
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < operations.size(); t++) {
      if (born[t] > i + 1 || operations[t].empty()) continue;
      const ChoiceNote& next = run[operations[t].back()];
      sum += splitmix(next.pc ^ splitmix(next.object));
    }
    return sum | 1;
  };
  std::vector<std::uint64_t> cells(run.size(), 0);
  for (std::size_t i = 0; i + 1 < run.size(); i++) {
    if (!meets[i]) continue;
    operations[run[i].thread].pop_back();
    if (run.enabled(i + 1).size() > 1) cells[i] = after(i);
  }
  return cells;
}

bool CellMap::learn(const Observation& run) {
  const std::size_t before = cells_.size();
  std::shared_ptr<std::vector<ThreadId>> choices;
  std::set<std::uint64_t> here;
  const std::vector<std::uint64_t> cells = cells_of(run);
  for (std::size_t i = 0; i < std::min(cells.size(), kLongestWay); i++) {
    if (cells[i] == 0 || !here.insert(cells[i]).second) continue;
    auto at = known_.find(cells[i]);
    if (at == known_.end()) {
      if (cells_.size() >= kMostCells) continue;
      at = known_.emplace(cells[i], cells_.size()).first;
      cells_.emplace_back();
    }
    Cell& cell = cells_[at->second];
    if (cell.choices != nullptr && cell.length <= i + 1) continue;
    if (choices == nullptr) {
      choices = std::make_shared<std::vector<ThreadId>>();
      for (std::size_t k = 0; k < std::min(run.size(), kLongestWay); k++) choices->push_back(run[k].thread);
    }
    cell.choices = choices;
    cell.length = i + 1;
  }
  return cells_.size() > before;
}

std::size_t CellMap::choose(const std::function<std::uint64_t(std::uint64_t)>& below) {
  std::size_t best = below(cells_.size());
  for (std::uint64_t i = 1; i < kDrawn; i++)
    if (const std::size_t other = below(cells_.size()); cells_[other].chosen < cells_[best].chosen) best = other;
  cells_[best].chosen++;
  return best;
}

std::vector<ThreadId> CellMap::way_to(std::size_t cell) const {
  const auto first = cells_[cell].choices->begin();
  return {first, first + static_cast<std::ptrdiff_t>(cells_[cell].length)};
}

}  // namespace reweave
