#include "formats/trace/trace_decoder.h"

#include <algorithm>
#include <limits>

#include "formats/base/message.h"

namespace reweave {

void TraceChunk::resize(std::size_t count) {
  thread.resize(count);
  kind.resize(count);
  aux.resize(count);
  site.resize(count);
  address.resize(count);
  extra.resize(count);
  value.resize(count);
  has_value.resize(count);
}

void TraceDecoder::open(schema::TraceChunk::Reader from, std::uint32_t site_count) {
  const std::uint32_t count = from.getCount();
  if (count == 0 || count > kMaxChunkEvents) throw Malformed("event count out of its range");
  control_ = bytes_of(from.getControl());
  if (control_.size() != count) throw Malformed("a control column of another length than the chunk");
  op_refs_ = ColumnReader(bytes_of(from.getOps()));
  new_ops_ = ColumnReader(bytes_of(from.getNewOps()));
  thread_column_ = ColumnReader(bytes_of(from.getThreads()));
  addresses_ = ColumnReader(bytes_of(from.getAddresses()));
  extras_ = ColumnReader(bytes_of(from.getExtras()));
  values_.open(bytes_of(from.getValues()));
  ops_.clear();
  threads_.reset();
  thread_ = 0;
  current_ = {};
  site_count_ = site_count;
  last_new_site_ = 0;
  next_event_ = from.getFirstEvent();
}

bool TraceDecoder::next(std::size_t limit, TraceChunk& to) {
  if (control_.empty()) return false;
  to.first_event = next_event_;
  to.resize(std::min(limit, control_.size()));
  decode_events(control_.data(), to);
  control_ = control_.subspan(to.size());
  next_event_ += to.size();
  if (control_.empty()) expect_end();
  return true;
}

void TraceDecoder::decode_events(const std::uint8_t* control, TraceChunk& to) {
  ThreadId thread = thread_;
  TraceThreadState current = current_;
  const std::size_t count = to.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t code = control[i];
    if ((code & (control::kThreadGiven | control::kReserved)) != 0) [[unlikely]] {
      if ((code & control::kReserved) != 0) throw Malformed("a control byte of no known form");
      threads_[thread] = current;
      thread = static_cast<ThreadId>(thread_column_.bounded(std::numeric_limits<ThreadId>::max()));
      current = threads_[thread];
    }
    std::uint32_t index = current.op == kNoOp ? kNoOp : ops_[current.op].first;
    if ((code & control::kOpMask) != control::kOpFirst || index == kNoOp) [[unlikely]] {
      index = find_op(code, thread, current.op);
      if (current.op != kNoOp) ops_[current.op].learn_successor(index);
    }
    current.op = index;
    Op& op = ops_[index];
    const std::uint64_t address = (code & control::kAddressMask) == control::kAddressStride
                                      ? op.address + op.stride
                                      : given_address(code, op, current.address);
    op.learn_address(address, current.address);
    if (address != 0) current.address = address;
    if ((code & control::kExtraGiven) != 0) [[unlikely]] {
      if (!op.has_extra) throw Malformed("an extra word for an event that has none");
      op.extra = extras_.delta(op.extra);
    }
    const bool value_given = (code & control::kValueGiven) != 0;
    if (value_given && !op.has_value) [[unlikely]]
      throw Malformed("a value for an event that has none");
    to.value[i] = op.has_value ? values_.next(op, address, value_given, to.first_event + i) : 0;
    to.thread[i] = thread;
    to.kind[i] = op.kind;
    to.aux[i] = op.aux;
    to.site[i] = op.site;
    to.address[i] = address;
    to.extra[i] = op.extra;
    to.has_value[i] = op.has_value ? 1 : 0;
  }
  thread_ = thread;
  current_ = current;
}

std::uint64_t TraceDecoder::given_address(std::uint8_t code, const Op& op, std::uint64_t thread_address) {
  switch (code & control::kAddressMask) {
    case control::kAddressNear:
      return thread_address + op.near;
    case control::kAddressGivenNear:
      return addresses_.delta(thread_address);
    default:
      return addresses_.delta(op.address);
  }
}

std::uint32_t TraceDecoder::find_op(std::uint8_t code, ThreadId thread, std::uint32_t before) {
  std::uint32_t index = kNoOp;
  switch (code & control::kOpMask) {
    case control::kOpSecond:
      if (before != kNoOp) index = ops_[before].second;
      break;
    case control::kOpGiven:
      if (const std::uint64_t given = op_refs_.varint(); given < ops_.size()) index = static_cast<std::uint32_t>(given);
      break;
    case control::kOpNew:
      return new_op(thread);
    default:  // kOpFirst without a successor
      break;
  }
  // An op of another thread cannot do harm here, but shows that the file is damaged.
  if (index == kNoOp || ops_[index].thread != thread) throw Malformed("an event refers to no known op");
  return index;
}

std::uint32_t TraceDecoder::new_op(ThreadId thread) {
  Op op;
  const std::uint64_t site = new_ops_.delta(last_new_site_);
  if (site >= site_count_) throw Malformed("a site that has no name");
  op.site = last_new_site_ = static_cast<std::uint32_t>(site);
  op.form = static_cast<std::uint16_t>(new_ops_.bounded(kFormMask));
  op.thread = thread;
  const std::uint64_t words[3] = {op.form, 0, 0};
  const TraceEvent event = wire::unpack_trace(words);
  if (event.kind >= EventKind::kKindCount) throw Malformed("an event of no known kind");
  op.kind = event.kind;
  op.aux = event.aux;
  op.extra = event.extra;
  op.has_extra = (op.form & wire::kTraceExtra) != 0;
  op.has_value = event.has_value;
  ops_.push_back(op);
  return static_cast<std::uint32_t>(ops_.size() - 1);
}

void TraceDecoder::expect_end() const {
  for (const ColumnReader* column : {&op_refs_, &new_ops_, &thread_column_, &addresses_, &extras_})
    column->expect_end();
  values_.expect_end();
}

}  // namespace reweave
