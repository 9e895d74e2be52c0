#include "formats/trace/value_coding.h"

#include <algorithm>

namespace reweave {
namespace {

// The number in the column: 2 * the zigzagged difference of a small value from the expected one, or 1 + 2 * (the age of
// a large value + 1), or 1 for a large value that is new.
constexpr std::uint64_t kLarge = 1;

std::uint64_t small_or_zero(std::uint64_t value) { return value < kSmallValues ? value : 0; }

}  // namespace

void ValueWriter::note_block(std::uint64_t address, std::uint64_t bytes) {
  blocks_begin_ = std::min(blocks_begin_, address);
  blocks_end_ = std::max(blocks_end_, address + bytes);
}

bool ValueWriter::add(TraceOp& op, std::uint64_t address, std::uint64_t bytes, std::uint64_t value) {
  SeenValues& place = seen_.at(address);
  const bool known = place.address == address;
  if (!known) place = {.address = address};
  const bool points = bytes == sizeof(void*) && value >= blocks_begin_ && value < blocks_end_;
  const std::uint64_t expected = known ? small_or_zero(place.last) : op.value;
  const bool same = value == (known ? place.last : expected) && !points;
  place.last = value;
  op.value = small_or_zero(value);
  if (same) return true;
  if (value < kSmallValues) {
    column_.put_varint(zigzag(value - expected) << 1);
    return false;
  }
  std::uint64_t age = 0;
  while (age < place.ages() && (points || place.aged(age) != value)) ++age;
  const bool is_new = age == place.ages();
  if (is_new) place.add_large(points ? 0 : value);
  column_.put_varint(is_new ? kLarge : (age + 1) << 1 | kLarge);
  return false;
}

void ValueWriter::reset() {
  seen_.reset();
  column_.clear();
}

void ValueReader::open(std::span<const std::uint8_t> column) {
  seen_.reset();
  column_ = ColumnReader(column);
}

std::uint64_t ValueReader::next(TraceOp& op, std::uint64_t address, bool given, std::uint64_t event) {
  SeenValues& place = seen_.at(address);
  const bool known = place.address == address;
  if (!known) place = {.address = address};
  const std::uint64_t expected = known ? small_or_zero(place.last) : op.value;
  std::uint64_t value = known ? place.last : expected;
  if (given) {
    const std::uint64_t number = column_.varint(), age = number >> 1;
    if ((number & kLarge) == 0) {
      value = expected + unzigzag(number >> 1);
      if (value >= kSmallValues) throw Malformed("a small value out of its range");
    } else if (age == 0) {
      value = kNumberedValue | event;
      place.add_large(value);
    } else {
      if (age > place.ages()) throw Malformed("a value that was not seen before");
      value = place.aged(age - 1);
    }
  }
  place.last = value;
  op.value = small_or_zero(value);
  return value;
}

}  // namespace reweave
