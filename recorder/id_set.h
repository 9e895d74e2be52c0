// A set of small numbers, such as thread IDs: one bit each. A set whose memory is zero is empty.
//
// Thread rule: each operation is atomic by itself. A walk may miss numbers that are added or removed meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

namespace reweave {

// `kRoom`: the numbers are below it.
template <std::uint32_t kRoom>
class IdSet {
 public:
  static_assert(kRoom % 64 == 0);

  void add(std::uint32_t id) {
    std::atomic<std::uint64_t>& word = words_[id / 64];
    if ((word.load() & bit_of(id)) == 0) word.fetch_or(bit_of(id));
  }
  void remove(std::uint32_t id) {
    std::atomic<std::uint64_t>& word = words_[id / 64];
    if ((word.load() & bit_of(id)) != 0) word.fetch_and(~bit_of(id));
  }
  bool has(std::uint32_t id) const { return (words_[id / 64].load() & bit_of(id)) != 0; }

  // Returns the lowest member from `from` on; `end` if none is below `end`, which is at most kRoom.
  std::uint32_t next(std::uint32_t from, std::uint32_t end) const {
    std::uint64_t skipped = ~std::uint64_t{0} << from % 64;
    for (std::uint32_t word = from / 64; word * 64 < end; word++, skipped = ~std::uint64_t{0}) {
      const std::uint64_t bits = words_[word].load() & skipped;
      if (bits == 0) continue;
      const std::uint32_t id = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
      return id < end ? id : end;
    }
    return end;
  }
  // Returns the lowest number that is not a member; kRoom if all are.
  std::uint32_t first_absent() const {
    for (std::uint32_t word = 0; word < kRoom / 64; word++)
      if (const std::uint64_t absent = ~words_[word].load(); absent != 0)
        return word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(absent));
    return kRoom;
  }

 private:
  static constexpr std::uint64_t bit_of(std::uint32_t id) { return std::uint64_t{1} << id % 64; }

  std::atomic<std::uint64_t> words_[kRoom / 64];
};

// The items of `table` whose numbers are in `set` and below `end`, in order: for (Item& item : members(...)). Members
// may be removed during the walk.
template <typename Item, std::uint32_t kRoom>
class Members {
 public:
  class Iterator {
   public:
    Iterator(const Members& of, std::uint32_t at) : of_(of), at_(at) {}
    Item& operator*() const { return of_.table_[at_]; }
    Iterator& operator++() {
      at_ = of_.set_.next(at_ + 1, of_.end_);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const Members& of_;
    std::uint32_t at_;
  };

  Members(Item* table, const IdSet<kRoom>& set, std::uint32_t end)
      : table_(table), set_(set), end_(end < kRoom ? end : kRoom) {}
  Iterator begin() const { return {*this, set_.next(0, end_)}; }
  Iterator end() const { return {*this, end_}; }

 private:
  Item* table_;
  const IdSet<kRoom>& set_;
  std::uint32_t end_;
};

}  // namespace reweave
