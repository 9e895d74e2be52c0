#include "explorer/run/latest_uses.h"

#include <algorithm>

namespace reweave {

namespace {

constexpr std::uint64_t kGranule = 8;          // bytes
constexpr std::uint64_t kMostGranules = 1024;  // larger footprints are not indexed by granule

std::uint64_t first_granule(const Footprint& place) { return place.start / kGranule; }
std::uint64_t last_granule(const Footprint& place) { return (place.end - 1) / kGranule; }
bool is_wide(const Footprint& place) { return last_granule(place) - first_granule(place) >= kMostGranules; }

Footprint footprint_of(const ChoiceNote& note) {
  const bool sized = !is_sync(note) || is_release(note);
  return {note.object, note.object + (sized ? std::max<std::uint64_t>(note.detail, 1) : 1)};
}

bool is_read(const ChoiceNote& note) { return !is_sync(note) && note.is_write == 0; }

}  // namespace

// Calls `use` with all earlier uses that overlap `place`; with some of them more than once.
template <typename Use>
void LatestUses::visit(const Footprint& place, const Use& use) const {
  const auto try_use = [&](std::size_t number) {
    if (all_[number].place.overlaps(place)) use(all_[number]);
  };
  const auto end = narrow_.upper_bound(last_granule(place));
  for (auto at = narrow_.lower_bound(first_granule(place)); at != end; ++at) std::ranges::for_each(at->second, try_use);
  const std::uint64_t lowest = place.start - std::min(place.start, widest_);
  for (auto at = wide_.lower_bound(lowest); at != wide_.end() && at->first < place.end; ++at) try_use(at->second);
}

// Adds the direct predecessors of event `i` at `place`, all bytes of which have the same uses.
void LatestUses::collect(const Footprint& place, std::size_t i, std::set<std::size_t>& found) const {
  std::size_t latest_write = 0;
  visit(place, [&](const Uses& uses) {
    if (!is_read(events_[uses.since.front()].note)) latest_write = std::max(latest_write, uses.since.front());
  });
  visit(place, [&](const Uses& uses) {
    // A read conflicts only with the write, which comes first.
    const std::size_t most = is_read(events_[i].note) ? 1 : uses.since.size();
    for (std::size_t k = most; k-- > 0 && uses.since[k] >= latest_write;)
      if (conflict(events_[uses.since[k]], events_[i])) found.insert(uses.since[k]);
  });
}

std::set<std::size_t> LatestUses::before(std::size_t i) const {
  std::set<std::size_t> found;
  const Footprint place = footprint_of(events_[i].note);
  std::set<std::uint64_t> bounds = {place.start, place.end};  // of parts whose bytes have the same uses
  visit(place, [&](const Uses& uses) {
    for (const std::uint64_t bound : {uses.place.start, uses.place.end})
      if (place.start < bound && bound < place.end) bounds.insert(bound);
  });
  for (auto bound = bounds.begin(); std::next(bound) != bounds.end(); ++bound)
    collect({*bound, *std::next(bound)}, i, found);
  return found;
}

void LatestUses::add(std::size_t i) {
  const Footprint place = footprint_of(events_[i].note);
  const auto [known, is_new] = index_.try_emplace(place, all_.size());
  if (is_new) {
    all_.push_back({place, {}});
    if (is_wide(place)) {
      wide_.emplace(place.start, known->second);
      widest_ = std::max(widest_, place.end - place.start);
    } else {
      for (std::uint64_t at = first_granule(place); at <= last_granule(place); at++)
        narrow_[at].push_back(known->second);
    }
  }
  std::vector<std::size_t>& since = all_[known->second].since;
  if (!is_read(events_[i].note)) since.clear();
  since.push_back(i);
}

}  // namespace reweave
