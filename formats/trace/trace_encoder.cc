#include "formats/trace/trace_encoder.h"

#include "formats/base/message.h"

namespace reweave {
namespace {

constexpr std::size_t kFirstSlots = 4096;

std::size_t hash_of(ThreadId thread, std::uint64_t key) {
  const std::uint64_t mixed = (key ^ std::uint64_t{thread} << 40) * 0x9e3779b97f4a7c15;
  return static_cast<std::size_t>(mixed ^ mixed >> 29);
}

}  // namespace

void TraceEncoder::add(const std::uint64_t* packed) {
  const std::uint64_t word0 = packed[0];
  if (wire::kind_of(word0) == EventKind::kAlloc && (word0 & wire::kTraceExtra) != 0)
    values_.note_block(word0 >> 16, packed[2]);
  const std::uint64_t word1 = packed[1];
  const auto thread = static_cast<ThreadId>(word1);
  const std::uint64_t key = (word1 & ~std::uint64_t{0xffff}) | (word0 & kFormMask);
  std::uint8_t code = 0;
  if (thread != thread_) [[unlikely]] {
    code |= control::kThreadGiven;
    switch_to(thread);
  }
  std::uint32_t index;
  if (current_.op != kNoOp && is_op(ops_[current_.op].first, thread, key)) [[likely]] {
    index = ops_[current_.op].first;
  } else {
    code |= find_op(current_.op, thread, key, index);
    if (current_.op != kNoOp) ops_[current_.op].learn_successor(index);
  }
  current_.op = index;
  TraceOp& op = ops_[index];
  const std::uint64_t address = word0 >> 16;
  code |= add_address(op, address, current_.address);
  op.learn_address(address, current_.address);
  if (address != 0) current_.address = address;
  if ((word0 & wire::kTraceExtra) != 0 && packed[2] != op.extra) {
    code |= control::kExtraGiven;
    extras_.put_delta(packed[2], op.extra);
    op.extra = packed[2];
  } else if (wire::holds_value(word0)) {
    if (!values_.add(op, address, std::uint64_t{1} << (word0 & 7), packed[2])) code |= control::kValueGiven;
  }
  control_.put_byte(code);
}

std::uint8_t TraceEncoder::add_address(TraceOp& op, std::uint64_t address, std::uint64_t thread_address) {
  if (address == op.address + op.stride) [[likely]]
    return control::kAddressStride;
  if (address == thread_address + op.near) return control::kAddressNear;
  const std::uint64_t from_op = zigzag(address - op.address);
  const std::uint64_t from_thread = zigzag(address - thread_address);
  if (varint_bytes(from_thread) < varint_bytes(from_op)) {
    addresses_.put_varint(from_thread);
    return control::kAddressGivenNear;
  }
  addresses_.put_varint(from_op);
  return control::kAddressGiven;
}

// Finds the op that follows `before`, given that it is not the last successor of `before`.
std::uint8_t TraceEncoder::find_op(std::uint32_t before, ThreadId thread, std::uint64_t key, std::uint32_t& op) {
  if (before != kNoOp && is_op(ops_[before].second, thread, key)) {
    op = ops_[before].second;
    return control::kOpSecond;
  }
  bool is_new = false;
  op = look_up(thread, key, is_new);
  if (!is_new) {
    op_refs_.put_varint(op);
    return control::kOpGiven;
  }
  new_ops_.put_delta(ops_[op].site, last_new_site_);
  new_ops_.put_varint(ops_[op].form);
  last_new_site_ = ops_[op].site;
  return control::kOpNew;
}

std::uint32_t TraceEncoder::look_up(ThreadId thread, std::uint64_t key, bool& is_new) {
  if (ops_.size() * 2 >= slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t place = hash_of(thread, key) & mask;
  while (slots_[place].op != kNoOp) {
    if (slots_[place].key == key && slots_[place].thread == thread) return slots_[place].op;
    place = (place + 1) & mask;
  }
  REQUIRE((key >> 8 & 0x3f) < static_cast<std::uint64_t>(EventKind::kKindCount), "an event of unknown kind {}",
          key >> 8 & 0x3f);
  is_new = true;
  const auto index = static_cast<std::uint32_t>(ops_.size());
  slots_[place] = {key, index, thread};
  TraceOp op;
  op.site = sites_.site_of(thread, key >> 16);
  op.form = static_cast<std::uint16_t>(key & kFormMask);
  op.thread = thread;
  ops_.push_back(op);
  keys_.push_back(key);
  return index;
}

void TraceEncoder::grow() {
  std::vector<Slot> before(slots_.size() * 2, Slot{0, kNoOp, 0});
  before.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : before) {
    if (slot.op == kNoOp) continue;
    std::size_t place = hash_of(slot.thread, slot.key) & mask;
    while (slots_[place].op != kNoOp) place = (place + 1) & mask;
    slots_[place] = slot;
  }
}

void TraceEncoder::switch_to(ThreadId thread) {
  threads_[thread_] = current_;
  thread_ = thread;
  current_ = threads_[thread];
  thread_column_.put_varint(thread);
}

void TraceEncoder::forget_sites() {
  // Bit 15 is not part of a form, so a key with it set never matches again.
  for (std::uint64_t& key : keys_) key |= 0x8000;
  slots_.assign(slots_.size(), Slot{0, kNoOp, 0});
}

std::size_t TraceEncoder::column_bytes() const {
  return control_.size() + op_refs_.size() + new_ops_.size() + thread_column_.size() + addresses_.size() +
         extras_.size() + values_.column().size();
}

void TraceEncoder::emit(schema::TraceChunk::Builder chunk) {
  chunk.setCount(count());
  chunk.setControl(data_of(control_.bytes()));
  chunk.setOps(data_of(op_refs_.bytes()));
  chunk.setNewOps(data_of(new_ops_.bytes()));
  chunk.setThreads(data_of(thread_column_.bytes()));
  chunk.setAddresses(data_of(addresses_.bytes()));
  chunk.setExtras(data_of(extras_.bytes()));
  chunk.setValues(data_of(values_.column().bytes()));
  reset();
}

void TraceEncoder::reset() {
  for (ColumnWriter* column : {&control_, &op_refs_, &new_ops_, &thread_column_, &addresses_, &extras_})
    column->clear();
  slots_.assign(std::max(slots_.size(), kFirstSlots), Slot{0, kNoOp, 0});
  ops_.clear();
  keys_.clear();
  threads_.reset();
  values_.reset();
  current_ = {};
  thread_ = 0;
  last_new_site_ = 0;
}

}  // namespace reweave
