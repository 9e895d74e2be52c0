#include "predictor/suspects/sharing.h"

#include <algorithm>

namespace reweave {

Sharing::Sharing(const ProgramSummary& program, const PointsTo& points_to, const ThreadWalk& walk)
    : is_shared_(points_to.objects().size(), false), own_(walk.kinds().size()) {
  find_shared(program, points_to);
  for (std::uint32_t kind = 0; kind < walk.kinds().size(); kind++) find_own(points_to, walk, kind);
}

void Sharing::find_shared(const ProgramSummary& program, const PointsTo& points_to) {
  std::vector<std::uint32_t> open;
  const auto reach = [&](std::uint32_t object) {
    if (is_shared_[object]) return;
    is_shared_[object] = true;
    open.push_back(object);
  };
  for (std::uint32_t i = 0; i < points_to.objects().size(); i++)
    if (points_to.objects()[i].kind == MemoryObject::Kind::kVariable) reach(i);
  for (const ThreadStart& start : points_to.starts())
    for (const Operand& given : start.given)
      for (const CellId cell : points_to.targets(start.function, given)) reach(points_to.cell(cell).object);
  while (!open.empty()) {
    const std::uint32_t object = open.back();
    open.pop_back();
    for (const auto& [offset, cell] : points_to.objects()[object].cells)
      for (const CellId target : points_to.contents(cell)) reach(points_to.cell(target).object);
  }
  for (std::uint32_t i = 0; i < is_shared_.size(); i++) {
    const MemoryObject& object = points_to.objects()[i];
    const bool is_symbol = object.kind == MemoryObject::Kind::kVariable;
    const bool is_left_out =
        is_symbol && (program.symbols[object.symbol].flags & (kConstantSymbol | kThreadLocalSymbol)) != 0;
    if (is_left_out || object.kind == MemoryObject::Kind::kFunction || object.kind == MemoryObject::Kind::kThread)
      is_shared_[i] = false;
  }
}

// An object is a thread's own if only objects of its own lead to it, and if such threads made it, or it was made in the
// loop that starts them.
void Sharing::find_own(const PointsTo& points_to, const ThreadWalk& walk, std::uint32_t kind) {
  std::set<std::uint32_t>& own = own_[kind];
  own = walk.kinds()[kind].objects_of_its_own;
  if (own.empty()) return;
  std::vector<std::set<std::uint32_t>> holders(points_to.objects().size());
  for (std::uint32_t i = 0; i < points_to.objects().size(); i++)
    for (const auto& [offset, cell] : points_to.objects()[i].cells)
      for (const CellId target : points_to.contents(cell)) holders[points_to.cell(target).object].insert(i);
  const auto is_ours = [&](std::uint32_t holder) {
    return own.contains(holder) ||
           (points_to.objects()[holder].kind == MemoryObject::Kind::kStack && !is_shared_[holder]);
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (std::uint32_t i = 0; i < holders.size(); i++) {
      const bool is_block = points_to.objects()[i].kind == MemoryObject::Kind::kHeap;
      const bool is_made_here = walk.kinds()[kind].made_beside.contains(i) ||
                                walk.functions_of(kind).contains(points_to.objects()[i].function);
      if (!is_block || own.contains(i) || holders[i].empty() || !is_made_here) continue;
      if (std::ranges::all_of(holders[i], is_ours)) grows = own.insert(i).second || grows;
    }
  }
}

}  // namespace reweave
