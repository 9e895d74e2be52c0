#include "explorer/searches/cells.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "explorer/sharing.h"

namespace reweave {

namespace {

constexpr std::size_t kMostCells = 100'000;
constexpr std::uint64_t kDrawn = 16;  // cells of which the best is taken
// Of long runs only so many first choices are looked at; a way there costs memory.
constexpr std::size_t kLongestWay = 20'000;

std::uint64_t mixed(std::uint64_t z) {  // splitmix64
  z += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// First choice at which each thread was known to live; the run's size if never.
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
  // From the end: the sum over living threads of a hash of the operation on something shared that each executes next.
  std::vector<std::uint64_t> cells(run.size(), 0);
  const std::vector<std::size_t> born = births_of(run);
  // By choice: threads that live after it and did not before.
  std::vector<std::vector<ThreadId>> children(run.size());
  for (std::size_t t = 0; t < born.size(); t++)
    if (born[t] > 0 && born[t] < run.size()) children[born[t] - 1].push_back(static_cast<ThreadId>(t));
  std::vector<bool> meets(run.size(), false);
  for (const SharedObject& object : shared_objects(run))
    for (const std::size_t i : object.operations) meets[i] = true;
  std::vector<std::uint64_t> pending(run.threads(), 0);
  std::uint64_t sum = 0;
  for (std::size_t i = run.size(); i-- > 0;) {
    if (i + 1 < run.size() && run.enabled(i + 1).size() > 1) cells[i] = sum | 1;
    for (const ThreadId child : children[i]) sum -= pending[child];
    if (!meets[i]) continue;
    const std::uint64_t operation = mixed(run[i].pc);
    sum += operation - pending[run[i].thread];
    pending[run[i].thread] = operation;
  }
  return cells;
}

void CellMap::learn(const Observation& run) {
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
    cell.seen++;
    if (cell.choices != nullptr && cell.length <= i + 1) continue;
    if (choices == nullptr) {
      choices = std::make_shared<std::vector<ThreadId>>();
      for (std::size_t k = 0; k < std::min(run.size(), kLongestWay); k++) choices->push_back(run[k].thread);
    }
    cell.choices = choices;
    cell.length = i + 1;
  }
}

std::vector<ThreadId> CellMap::choose(const std::function<std::uint64_t(std::uint64_t)>& below) {
  Cell* best = nullptr;
  double least = 0;
  for (std::uint64_t i = 0; i < kDrawn; i++) {
    Cell& cell = cells_[below(cells_.size())];
    const double cost = static_cast<double>(1 + cell.chosen) * std::sqrt(static_cast<double>(cell.seen));
    if (best == nullptr || cost < least) best = &cell, least = cost;
  }
  best->chosen++;
  return {best->choices->begin(), best->choices->begin() + static_cast<std::ptrdiff_t>(best->length)};
}

}  // namespace reweave
