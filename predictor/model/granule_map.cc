#include "predictor/model/granule_map.h"

#include <algorithm>

namespace reweave {

GranuleMap::Page& GranuleMap::page(std::uint64_t number) {
  if (number == cached_number_) return *cached_;
  auto& slot = pages_[number];
  if (!slot) {
    slot = std::make_unique<Page>();
    slot->fill(kNone);
  }
  cached_number_ = number;
  cached_ = slot.get();
  return *slot;
}

std::uint32_t GranuleMap::id(std::uint64_t granule, bool& fresh) {
  std::uint32_t& entry = page(granule >> kPageBits)[granule & kPageMask];
  fresh = entry == kNone;
  if (fresh) entry = next_++;
  return entry;
}

template <typename Visit>
void GranuleMap::for_pages(std::uint64_t first, std::uint64_t last, Visit visit) const {
  const std::uint64_t from = first >> kPageBits, to = last >> kPageBits;
  auto visit_one = [&](std::uint64_t number, Page& found) {
    visit(found, number == from ? first & kPageMask : 0, number == to ? last & kPageMask : kPageMask);
  };
  if (to - from > pages_.size()) {  // a huge block: walk the existing pages instead of the range
    for (const auto& [number, found] : pages_) {
      if (number >= from && number <= to) visit_one(number, *found);
    }
    return;
  }
  for (std::uint64_t number = from; number <= to; ++number) {
    if (auto it = pages_.find(number); it != pages_.end()) visit_one(number, *it->second);
  }
}

std::vector<std::uint32_t> GranuleMap::used(std::uint64_t first, std::uint64_t last, std::size_t limit) const {
  std::vector<std::uint32_t> ids;
  for_pages(first, last, [&](Page& found, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t slot = from; slot <= to && ids.size() < limit; ++slot) {
      if (found[slot] != kNone) ids.push_back(found[slot]);
    }
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

void GranuleMap::forget(std::uint64_t first, std::uint64_t last) {
  for_pages(first, last, [](Page& found, std::uint64_t from, std::uint64_t to) {
    std::fill(found.begin() + static_cast<std::ptrdiff_t>(from), found.begin() + static_cast<std::ptrdiff_t>(to) + 1,
              kNone);
  });
}

}  // namespace reweave
