#include "replayer/live/trail.h"

#include <algorithm>

namespace reweave {

Position Trail::add(const Progress& progress, std::uint64_t pc) {
  const bool is_new = pcs_.empty() || progress != latest_;
  if (is_new) arrivals_.clear();
  latest_ = progress;
  if (pcs_.size() == kMost) {
    too_long_ = true;
    parts_.clear();
  }
  if (!too_long_) {
    if (is_new) parts_.push_back({progress, pcs_.size()});
    pcs_.push_back(pc);
  }
  return {progress, thread_, pc, ++arrivals_[pc], 0};
}

std::size_t Trail::end_of(std::size_t part) const {
  return part + 1 < parts_.size() ? parts_[part + 1].begin : pcs_.size();
}

Position Trail::position_of(std::size_t part, std::size_t index) const {
  const auto begin = pcs_.begin() + static_cast<std::ptrdiff_t>(parts_[part].begin),
             end = pcs_.begin() + static_cast<std::ptrdiff_t>(index);
  return {parts_[part].progress, thread_, *end, static_cast<std::uint64_t>(std::count(begin, end, *end)) + 1, 0};
}

std::optional<Position> Trail::before(const Position& position) const {
  if (position.thread != thread_ || position.steps != 0) return {};
  const auto found = std::ranges::lower_bound(parts_, position.progress, {}, &Part::progress);
  if (found == parts_.end() || found->progress != position.progress) return {};
  const auto part = static_cast<std::size_t>(found - parts_.begin());
  std::uint64_t arrival = 0;
  for (std::size_t i = found->begin; i < end_of(part); i++) {
    if (pcs_[i] != position.pc || ++arrival != position.arrival) continue;
    if (i > found->begin) return position_of(part, i - 1);
    if (part == 0) return {};
    return position_of(part - 1, i - 1);
  }
  return {};
}

}  // namespace reweave
