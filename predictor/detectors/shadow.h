// A detector's shadow memory: one cell for 8 bytes as long as they are accessed together, else a cell for each byte.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

namespace reweave {

template <typename Cell>
class Shadow {
 public:
  // Calls visit(cell) for the cells of `bytes` bytes from `address`. When a cell of 8 bytes is split into one for each
  // byte, calls copied(cell) for all of these copies but one.
  template <typename Visit, typename Copied>
  void access(std::uint64_t address, std::uint64_t bytes, Visit visit, Copied copied) {
    const std::uint64_t end = address + (bytes == 0 ? 1 : bytes);
    while (address < end) {
      Page& page = find(address >> kPageBits);
      const std::size_t slot = address >> 3 & (kSlots - 1);
      const std::uint64_t stop = std::min(end, (address | 7) + 1);
      if (stop - address == 8 && (!page.split || (*page.split)[slot] == 0)) {
        visit(page.cells[slot]);
      } else {
        auto& parts = split(page, slot, copied);
        for (std::uint64_t at = address; at < stop; ++at) visit(parts[at & 7]);
      }
      address = stop;
    }
  }

  template <typename Visit>
  void access(std::uint64_t address, std::uint64_t bytes, Visit visit) {
    access(address, bytes, visit, [](Cell&) {});
  }

  // Prefetches the cell of an address that will be accessed soon.
  void prefetch(std::uint64_t address) const {
    const Cached& cached = cache_[cache_slot(address >> kPageBits)];
    if (cached.number == address >> kPageBits) __builtin_prefetch(&cached.page->cells[address >> 3 & (kSlots - 1)]);
  }

  // From now on the memory is a new object.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    constexpr std::uint64_t kMost = 1u << 22;  // bounds the cost of a huge block
    const std::uint64_t end = address + std::min(bytes, kMost);
    for (; address < end; address += 8) {
      const auto it = pages_.find(address >> kPageBits);
      if (it == pages_.end()) {
        address |= (1u << kPageBits) - 8;
        continue;
      }
      const std::size_t slot = address >> 3 & (kSlots - 1);
      it->second->cells[slot] = Cell{};
      if (it->second->split) (*it->second->split)[slot] = 0;
    }
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr std::size_t kSlots = 512, kCached = 1024;
  struct Page {
    std::array<Cell, kSlots> cells{};
    std::unique_ptr<std::array<std::uint32_t, kSlots>> split;  // index in splits_ plus 1, 0 if not split; null: all 0
  };
  struct Cached {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };

  static std::size_t cache_slot(std::uint64_t number) { return (number ^ number >> 10) % kCached; }
  Page& find(std::uint64_t number) {
    Cached& cached = cache_[cache_slot(number)];
    if (cached.number == number) [[likely]]
      return *cached.page;
    auto& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    cached = {number, page.get()};
    return *page;
  }
  template <typename Copied>
  std::array<Cell, 8>& split(Page& page, std::size_t slot, Copied copied) {
    if (!page.split) page.split = std::make_unique<std::array<std::uint32_t, kSlots>>();
    std::uint32_t& index = (*page.split)[slot];
    if (index == 0) {
      splits_.emplace_back();
      splits_.back().fill(page.cells[slot]);
      for (std::size_t i = 1; i < 8; ++i) copied(splits_.back()[i]);
      index = static_cast<std::uint32_t>(splits_.size());
    }
    return splits_[index - 1];
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Cached, kCached> cache_;
  std::deque<std::array<Cell, 8>> splits_;
};

}  // namespace reweave
