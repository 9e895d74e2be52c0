// The values of a trace (TraceEvent::value) in a chunk.
//
// What matters of a value is whether it is the same as another at this address. So only small values are stored; larger
// ones become numbers. Most values are the last one seen at the address, and cost nothing. A chunk remembers the last
// few large values of a bounded number of addresses; a value that was forgotten gets a new number, as if it were
// another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/base/column.h"
#include "formats/trace/trace_model.h"

namespace reweave {

// The values that a chunk remembers of an address: the writer large values as they are, the reader their numbers.
struct SeenValues {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  static constexpr std::size_t kMostLarge = 4;

  std::uint64_t address = kNowhere;
  std::uint64_t last = 0;
  std::array<std::uint64_t, kMostLarge> large{};  // a ring
  std::uint32_t large_count = 0;                  // added so far

  void add_large(std::uint64_t value) { large[large_count++ % kMostLarge] = value; }
  // The value added `age` additions ago; 0: the last one. There must be as many.
  std::uint64_t& aged(std::uint64_t age) { return large[(large_count - 1 - age) % kMostLarge]; }
  std::uint64_t ages() const { return large_count < kMostLarge ? large_count : kMostLarge; }
};

class SeenAddresses {
 public:
  SeenValues& at(std::uint64_t address) { return places_[(address ^ address >> 12) % kPlaces]; }
  void reset() { places_.assign(kPlaces, {}); }

 private:
  static constexpr std::size_t kPlaces = 4096;
  std::vector<SeenValues> places_ = std::vector<SeenValues>(kPlaces);
};

class ValueWriter {
 public:
  // Pointers into heap blocks and stacks get a new number each time: the same bytes may name another block later.
  void note_block(std::uint64_t address, std::uint64_t bytes);
  // True if a reader expects the value; otherwise it is in the column now.
  bool add(TraceOp& op, std::uint64_t address, std::uint64_t bytes, std::uint64_t value);
  const ColumnWriter& column() const { return column_; }
  void reset();

 private:
  SeenAddresses seen_;
  std::uint64_t blocks_begin_ = ~std::uint64_t{0}, blocks_end_ = 0;  // all blocks are within
  ColumnWriter column_;
};

class ValueReader {
 public:
  void open(std::span<const std::uint8_t> column);
  // The value of an access. `given`: it is in the column. `event`: the number of the event. Throws Malformed.
  std::uint64_t next(TraceOp& op, std::uint64_t address, bool given, std::uint64_t event);
  void expect_end() const { column_.expect_end(); }

 private:
  SeenAddresses seen_;
  ColumnReader column_;
};

}  // namespace reweave
