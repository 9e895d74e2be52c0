// Past accesses of memory: for each 8 bytes, those that a later access may race with.
//
// A later access of the same thread, or one ordered after, replaces an earlier one if it conflicts with everything that
// the earlier one conflicts with. So a cell has few notes and loses none that matters, as in FastTrack (Flanagan,
// Freund, PLDI 2009), but with bytes and atomic accesses distinguished.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "formats/event.h"

namespace reweave {

struct AccessNote {
  std::uint32_t clock = 0;   // its thread's own entry
  std::uint32_t access = 0;  // number of its place, stack and locks
  ThreadId thread = 0;
  std::uint8_t bytes = 0;  // a bit for each of the 8
  bool write : 1 = false, atomic : 1 = false, virtual_table : 1 = false;

  bool overlaps(const AccessNote& other) const { return (bytes & other.bytes) != 0; }
  bool conflicts(const AccessNote& other) const {
    return overlaps(other) && (write || other.write) && !(atomic && other.atomic);
  }
  // True if everything that conflicts with `other` also conflicts with this.
  bool stands_for(const AccessNote& other) const {
    return (other.bytes & ~bytes) == 0 && (write || !other.write) && (!atomic || other.atomic);
  }
};

class AccessCell {
 public:
  // kReported: a race was found here; from then on, as in ThreadSanitizer, only writes are examined.
  enum class State : std::uint8_t { kUsed, kFreed, kReported };

  State state = State::kUsed;

  std::size_t size() const { return count_; }
  AccessNote& operator[](std::size_t i) { return i < kInside ? notes_[i] : (*more_)[i - kInside]; }
  void add(const AccessNote& note) {
    if (count_ >= kInside) {
      if (!more_) more_ = std::make_unique<std::vector<AccessNote>>();
      more_->resize(count_ - kInside + 1);
    }
    count_++;
    (*this)[count_ - 1] = note;
  }
  void remove(std::size_t i) {
    (*this)[i] = (*this)[count_ - 1];
    count_--;
  }
  void reset(State to = State::kUsed) {
    state = to;
    count_ = 0;
    more_.reset();
  }

 private:
  static constexpr std::size_t kInside = 2;
  std::array<AccessNote, kInside> notes_;
  std::uint32_t count_ = 0;
  std::unique_ptr<std::vector<AccessNote>> more_;
};

class AccessCells {
 public:
  // Calls visit(cell, address of its first byte, mask of the bytes) for each cell of the memory.
  template <typename Visit>
  void each(std::uint64_t address, std::uint64_t bytes, Visit visit) {
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address; at < end;) {
      const std::uint64_t base = at & ~std::uint64_t{7}, stop = std::min(end, base + 8);
      visit(cell(base), base, mask_of(at - base, stop - base));
      at = stop;
    }
  }

  // From now on, earlier accesses of the memory do not count.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address & ~std::uint64_t{7}; at < end;) {
      const auto page = pages_.find(at >> kPageBits);
      const std::uint64_t stop = std::min(end, ((at >> kPageBits) + 1) << kPageBits);
      if (page != pages_.end())
        for (; at < stop; at += 8) page->second->at(at >> 3 & (kCells - 1)).reset();
      at = stop;
    }
  }

  void forget_if(auto is_gone) {
    std::erase_if(pages_, [&](const auto& page) { return is_gone(page.first << kPageBits); });
    last_page_ = nullptr;
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr std::size_t kCells = 512;
  using Page = std::array<AccessCell, kCells>;

  static std::uint8_t mask_of(std::uint64_t from, std::uint64_t to) {
    return static_cast<std::uint8_t>((0xffu >> (8 - (to - from))) << from);
  }
  AccessCell& cell(std::uint64_t address) {
    const std::uint64_t number = address >> kPageBits;
    if (last_page_ == nullptr || number != last_number_) {
      auto& page = pages_[number];
      if (!page) page = std::make_unique<Page>();
      last_page_ = page.get();
      last_number_ = number;
    }
    return (*last_page_)[address >> 3 & (kCells - 1)];
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* last_page_ = nullptr;
  std::uint64_t last_number_ = 0;
};

}  // namespace reweave
