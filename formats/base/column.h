// Byte columns: the coding of sequences of integers inside Cap'n Proto Data fields.
//
// A varint is LEB128 (7 bits a byte, low first, at most 10 bytes); a signed value is zigzagged first, so that small
// residuals of either sign are one byte. Readers throw Malformed instead of reading past a column's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "formats/base/error.h"

namespace reweave {

constexpr std::uint64_t zigzag(std::uint64_t delta) {
  return delta << 1 ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(delta) >> 63);
}
constexpr std::uint64_t unzigzag(std::uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }

// Size of `value` as a varint.
constexpr unsigned varint_bytes(std::uint64_t value) {
  return (static_cast<unsigned>(63 - __builtin_clzll(value | 1)) / 7) + 1;
}

class ColumnWriter {
 public:
  void put_byte(std::uint8_t value) {
    reserve(1);
    *next_++ = value;
  }
  void put_varint(std::uint64_t value) {
    reserve(10);
    while (value >= 0x80) {
      *next_++ = static_cast<std::uint8_t>(value | 0x80);
      value >>= 7;
    }
    *next_++ = static_cast<std::uint8_t>(value);
  }
  // Writes `value` as its difference from the reader's prediction.
  void put_delta(std::uint64_t value, std::uint64_t predicted) { put_varint(zigzag(value - predicted)); }
  void put_u32(std::uint32_t value) { put_bytes(&value, sizeof value); }
  void put_u64(std::uint64_t value) { put_bytes(&value, sizeof value); }
  void put_bytes(const void* bytes, std::size_t count) {
    reserve(count);
    if (count != 0) std::memcpy(next_, bytes, count);
    next_ += count;
  }

  std::span<const std::uint8_t> bytes() const { return {storage_.data(), size()}; }
  std::size_t size() const { return static_cast<std::size_t>(next_ - storage_.data()); }
  void clear() { next_ = storage_.data(); }

 private:
  void reserve(std::size_t count) {
    if (static_cast<std::size_t>(storage_.data() + storage_.size() - next_) < count) [[unlikely]]
      grow(count);
  }
  void grow(std::size_t count) {
    const std::size_t used = size();
    storage_.resize(storage_.size() * 2 + count + 64);
    next_ = storage_.data() + used;
  }

  std::vector<std::uint8_t> storage_;
  std::uint8_t* next_ = storage_.data();
};

class ColumnReader {
 public:
  ColumnReader() = default;
  explicit ColumnReader(std::span<const std::uint8_t> bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint8_t byte() {
    if (next_ == end_) [[unlikely]]
      throw Malformed("a column is too short");
    return *next_++;
  }
  std::uint64_t varint() {
    if (next_ != end_ && *next_ < 0x80) [[likely]]
      return *next_++;
    return long_varint();
  }
  std::uint64_t delta(std::uint64_t predicted) { return predicted + unzigzag(varint()); }
  // A varint that must not exceed `limit`.
  std::uint64_t bounded(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value > limit) throw Malformed("a value is out of its range");
    return value;
  }
  std::uint32_t u32() { return fixed<std::uint32_t>(); }
  std::uint64_t u64() { return fixed<std::uint64_t>(); }
  const std::uint8_t* take(std::uint64_t count) {
    if (count > remaining()) throw Malformed("a column is too short");
    const std::uint8_t* bytes = next_;
    next_ += count;
    return bytes;
  }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }
  // Throws Malformed unless the column is used up: leftovers mean that reader and writer disagree.
  void expect_end() const {
    if (next_ != end_) throw Malformed("a column has bytes left over");
  }

 private:
  template <typename Integer>
  Integer fixed() {
    Integer value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const std::uint8_t part = byte();
      if (shift == 63 && part > 1) break;
      value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    throw Malformed("a varint exceeds 64 bits");
  }

  const std::uint8_t* next_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace reweave
