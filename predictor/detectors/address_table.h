// A map from addresses to values, with a cache of those used recently.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace reweave {

template <typename Value>
class AddressTable {
 public:
  // The value of `address`, created if there is none. References stay valid.
  Value& operator[](std::uint64_t address) {
    Cached& cached = cache_[(address >> 3 ^ address >> 11) % kCached];
    if (cached.value == nullptr || cached.address != address) [[unlikely]]
      cached = {address, &values_[address]};
    return *cached.value;
  }

 private:
  static constexpr std::size_t kCached = 256;
  struct Cached {
    std::uint64_t address = 0;
    Value* value = nullptr;
  };
  std::unordered_map<std::uint64_t, Value> values_;
  std::array<Cached, kCached> cache_{};
};

}  // namespace reweave
