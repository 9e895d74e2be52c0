#include "formats/code/address_terms.h"

#include <algorithm>
#include <utility>

namespace reweave {
namespace {

constexpr std::size_t kMaxCells = 64;
constexpr std::uint64_t kLow = 0xffffffffu;

constexpr bool is_kept_by_callee(unsigned number) {
  return number == kRbx || number == kRsp || number == kRbp || (number >= 12 && number <= 15);
}

}  // namespace

std::uint32_t Terms::made(Kind kind, std::uint32_t a, std::uint64_t b, std::uint64_t c) {
  if (a == kFrame || (kind == Kind::kSum && b == kFrame)) frame_hidden_ = true;
  const auto [it, fresh] = known_.try_emplace(Key{kind, a, b, c}, next_);
  if (fresh) kind_of_[next_++] = kind;
  return it->second;
}

Term Terms::sum(Term a, Term b) {
  const std::uint64_t constant = a.constant + b.constant;
  if (a.symbol == kNumber) return {b.symbol, constant};
  if (b.symbol == kNumber) return {a.symbol, constant};
  if (a.symbol > b.symbol) std::swap(a, b);
  return {made(Kind::kSum, a.symbol, b.symbol, 0), constant};
}

Term Terms::scaled(Term a, std::uint64_t factor) {
  if (a.symbol == kNumber || factor == 1) return {a.symbol, a.constant * factor};
  return {made(Kind::kScaled, a.symbol, factor, 0), a.constant * factor};
}

Term Terms::narrowed(Term a) {
  if (a.symbol == kNumber) return {kNumber, a.constant & kLow};
  const auto kind = kind_of_.find(a.symbol);
  if (kind != kind_of_.end() && kind->second == Kind::kNarrowed && a.constant == 0) return a;
  return {made(Kind::kNarrowed, a.symbol, a.constant & kLow, 0), 0};
}

Term Terms::sign_extended(Term a) {
  a = narrowed(a);
  if (a.symbol == kNumber)
    return {kNumber, static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a.constant)})};
  return {made(Kind::kSignExtended, a.symbol, 0, 0), 0};
}

Term Terms::content_of(std::uint64_t address) { return {made(Kind::kContent, kNumber, address, 0), 0}; }

bool are_apart(Term a, std::uint64_t bytes, Term b, std::uint64_t other_bytes) {
  if (a.symbol == b.symbol) return b.constant - a.constant >= bytes && a.constant - b.constant >= other_bytes;
  // The frame has no place with a fixed address.
  return (a.symbol == kNumber && b.symbol == kFrame) || (a.symbol == kFrame && b.symbol == kNumber);
}

AddressState::AddressState(Terms& terms, const Registers& known) : terms_(&terms) {
  for (unsigned i = 0; i < kGeneralRegisters; ++i) registers_[i] = known[i] ? *known[i] : terms.fresh();
}

Term AddressState::address(const MemoryPlace& place) const {
  Term result{kNumber, static_cast<std::uint64_t>(place.displacement)};
  if (place.other_segment) return terms_->fresh();
  if (place.base < kGeneralRegisters) result = terms_->sum(result, of(place.base));
  if (place.index < kGeneralRegisters) result = terms_->sum(result, terms_->scaled(of(place.index), place.scale));
  const bool strange = (place.base != kNoRegister && place.base >= kGeneralRegisters) ||
                       (place.index != kNoRegister && place.index >= kGeneralRegisters);
  return strange ? terms_->fresh() : result;
}

AddressState::Registers AddressState::known() const {
  Registers result;
  for (unsigned i = 0; i < kGeneralRegisters; ++i) {
    if (of(i).symbol <= kFrame) result[i] = of(i);
  }
  return result;
}

void AddressState::set(unsigned number, Term value, std::uint8_t bytes) {
  if (number >= kGeneralRegisters) return;
  if (bytes == 8) {
    registers_[number] = value;
  } else if (bytes == 4) {
    registers_[number] = terms_->narrowed(value);
  } else {
    registers_[number] = terms_->fresh();
  }
}

Term AddressState::loaded(const Instruction& instruction, bool changes) {
  const Term at = address(instruction.memory);
  const std::uint8_t bytes = instruction.bytes;
  for (const Cell& cell : cells_) {
    if (cell.address == at && cell.bytes == bytes) return cell.value;
  }
  if (!changes && at.symbol == kNumber) return terms_->content_of(at.constant);
  const Term value = terms_->fresh();
  if (at.symbol == kFrame && cells_.size() < kMaxCells) cells_.push_back({at, bytes, value});
  return value;
}

// The source operand of an instruction with a shape.
Term AddressState::source(const Instruction& instruction, bool changes) {
  if (instruction.from < kGeneralRegisters) return of(instruction.from);
  if (instruction.loads && instruction.to != kNoRegister) return loaded(instruction, changes);
  return {kNumber, static_cast<std::uint64_t>(instruction.constant)};
}

void AddressState::store(const Instruction& instruction) {
  using Shape = Instruction::Shape;
  if (instruction.several_places) return cells_.clear();
  const Term at = address(instruction.memory);
  std::erase_if(cells_, [&](const Cell& cell) { return !are_apart(at, instruction.bytes, cell.address, cell.bytes); });
  const bool moved = instruction.shape == Shape::kMove && instruction.from < kGeneralRegisters;
  if (moved && of(instruction.from).symbol == kFrame) frame_taken_ = true;
  if (!moved || at.symbol != kFrame || cells_.size() >= kMaxCells) return;
  const Term value = of(instruction.from);
  if (instruction.bytes == 8) cells_.push_back({at, 8, value});
  if (instruction.bytes == 4) cells_.push_back({at, 4, terms_->narrowed(value)});
}

// Gives fresh terms to the registers that the instruction writes.
void AddressState::unknown(const Instruction& instruction) {
  for (unsigned i = 0; i < kGeneralRegisters; ++i) {
    if ((instruction.reads & bit(i)) != 0 && of(i).symbol == kFrame) frame_taken_ = true;
  }
  for (unsigned i = 0; i < kGeneralRegisters; ++i) {
    if ((instruction.writes & bit(i)) == 0) continue;
    if (i == kRsp || i == kRbp) frame_taken_ = true;  // later accesses relative to it are not recognised
    registers_[i] = terms_->fresh();
  }
}

void AddressState::execute(const Instruction& instruction, bool changes) {
  using Shape = Instruction::Shape;
  const unsigned to = instruction.to;
  if (instruction.stores && instruction.shape != Shape::kPush) store(instruction);
  const bool to_register = to < kGeneralRegisters && !instruction.stores;
  switch (instruction.shape) {
    case Shape::kMove:
      if (to_register) return set(to, source(instruction, changes), instruction.bytes);
      break;
    case Shape::kSignExtend:
      if (to_register && (instruction.loads ? instruction.bytes == 4 : true))
        return set(to, terms_->sign_extended(source(instruction, changes)), 8);
      break;
    case Shape::kAddress:
      if (to_register) return set(to, address(instruction.memory), instruction.bytes);
      break;
    case Shape::kAdd:
      if (to_register) return set(to, terms_->sum(of(to), source(instruction, changes)), instruction.bytes);
      break;
    case Shape::kSubtract:
      if (to_register && instruction.has_constant)
        return set(to, terms_->sum(of(to), {kNumber, 0 - static_cast<std::uint64_t>(instruction.constant)}),
                   instruction.bytes);
      break;
    case Shape::kShiftLeft:
      if (to_register && instruction.has_constant && (instruction.constant & 63) < 32)
        return set(to, terms_->scaled(of(to), std::uint64_t{1} << (instruction.constant & 31)), instruction.bytes);
      break;
    case Shape::kPush:
      if (instruction.from < kGeneralRegisters && of(instruction.from).symbol == kFrame) frame_taken_ = true;
      move_stack(-8);
      std::erase_if(cells_, [&](const Cell& cell) { return !are_apart(of(kRsp), 8, cell.address, cell.bytes); });
      return;
    case Shape::kPop:
      if (to_register && to != kRsp) set(to, terms_->fresh(), 8);
      return move_stack(8);
    case Shape::kLeave:
      registers_[kRsp] = terms_->sum(of(kRbp), {kNumber, 8});
      registers_[kRbp] = terms_->fresh();
      return;
    case Shape::kOther:
      break;
  }
  unknown(instruction);
}

void AddressState::call(bool may_write) {
  constexpr unsigned kArguments[] = {kRdi, kRsi, kRdx, kRcx, 8, 9, 10};
  for (unsigned i : kArguments) frame_taken_ |= may_write && of(i).symbol == kFrame;
  for (unsigned i = 0; i < kGeneralRegisters; ++i) {
    if (!is_kept_by_callee(i)) registers_[i] = terms_->fresh();
  }
  if (may_write) cells_.clear();
}

}  // namespace reweave
