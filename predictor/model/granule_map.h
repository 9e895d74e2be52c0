// Maps addresses to variables: each granule of memory that the trace touches gets an id, and a new id whenever
// the memory is allocated or freed, so that two objects at one address are never confused.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

inline constexpr std::uint64_t kGranuleBytes = 8;

class GranuleMap {
 public:
  // Id of the granule number `granule` (address / 8); `fresh` is set if this call created it.
  std::uint32_t id(std::uint64_t granule, bool& fresh);

  // Ids in use in [first, last], at most `limit` of them.
  std::vector<std::uint32_t> used(std::uint64_t first, std::uint64_t last, std::size_t limit) const;

  // The granules [first, last] get new ids when touched again.
  void forget(std::uint64_t first, std::uint64_t last);

  std::uint32_t size() const { return next_; }

 private:
  static constexpr std::uint64_t kPageBits = 9;  // 512 granules, 4 KiB of address space
  static constexpr std::uint64_t kPageMask = (1u << kPageBits) - 1;
  using Page = std::array<std::uint32_t, 1u << kPageBits>;

  Page& page(std::uint64_t number);
  // Calls `visit(page, first slot, last slot)` for the pages that exist in the range.
  template <typename Visit>
  void for_pages(std::uint64_t first, std::uint64_t last, Visit visit) const;

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t cached_number_ = ~std::uint64_t{0};
  Page* cached_ = nullptr;
  std::uint32_t next_ = 0;
};

}  // namespace reweave
