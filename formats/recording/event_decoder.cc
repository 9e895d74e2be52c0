#include "formats/recording/event_decoder.h"

#include <limits>

#include "formats/base/message.h"

namespace reweave {
namespace {

constexpr std::uint64_t kMaxU16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();

ColumnReader column(capnp::Data::Reader data) { return ColumnReader(bytes_of(data)); }

}  // namespace

void EventDecoder::start(schema::EventBlock::Reader block) {
  left_ = block.getCount();
  if (left_ == 0 || left_ > kMaxBlockRecords) throw Malformed("record count out of its range");
  raw_bytes_left_ = block.getRawBytes();
  columns_.heads = column(block.getHeads());
  columns_.threads = column(block.getThreads());
  const auto switches = block.getSwitches();
  columns_.switch_steps = column(switches.getSteps());
  columns_.switch_targets = column(switches.getTargets());
  columns_.switch_reasons = column(switches.getReasons());
  columns_.switch_ticks = column(switches.getTicks());
  const auto calls = block.getSyscalls();
  columns_.call_places = column(calls.getPlaces());
  columns_.call_new_places = column(calls.getNewPlaces());
  columns_.call_checks = column(calls.getChecks());
  columns_.call_numbers = column(calls.getNumbers());
  columns_.call_flags = column(calls.getFlags());
  columns_.call_results = column(calls.getResults());
  const auto args = calls.getArgs();
  if (args.size() != 6) throw Malformed("a call does not have six arguments");
  for (unsigned i = 0; i < 6; ++i) columns_.call_args[i] = column(args[i]);
  columns_.call_steps = column(calls.getSteps());
  columns_.call_output_counts = column(calls.getOutputCounts());
  const auto outputs = block.getOutputs();
  columns_.shapes = column(outputs.getShapes());
  columns_.addresses = column(outputs.getAddresses());
  columns_.lengths = column(outputs.getLengths());
  columns_.payload = column(outputs.getPayload());
  columns_.raw = column(block.getRaw());
  const auto clocks = block.getClocks();
  columns_.clock_steps = column(clocks.getSteps());
  columns_.clock_contexts = column(clocks.getContexts());
  columns_.clock_ids = column(clocks.getClocks());
  columns_.clock_times = column(clocks.getTimes());
  model_.reset();
  places_.assign(1, 0);
}

const wire::RecordHeader* EventDecoder::next() {
  if (left_ == 0) return nullptr;
  --left_;
  const std::uint8_t head = columns_.heads.byte();
  const auto kind = static_cast<std::uint8_t>(head & event_head::kKindMask);
  if ((head & event_head::kReserved) != 0 || kind == 0) throw Malformed("a record of no known kind");
  if ((head & event_head::kThread) != 0) model_.thread = static_cast<ThreadId>(columns_.threads.bounded(kMaxU16));
  const ThreadId thread = model_.thread;
  bytes_ = 0;
  if ((head & event_head::kRaw) != 0) {
    decode_raw();
  } else if (kind == static_cast<std::uint8_t>(wire::RecordKind::kSwitch)) {
    decode_switch();
  } else if (kind == static_cast<std::uint8_t>(wire::RecordKind::kSyscall)) {
    decode_syscall();
  } else if (kind == static_cast<std::uint8_t>(wire::RecordKind::kClock)) {
    decode_clock();
  } else {
    throw Malformed(fmt::format("a record of kind {} has no columns", kind));
  }
  auto& header = record<wire::RecordHeader>();
  header = {kind, thread, static_cast<std::uint32_t>(bytes_)};
  if (bytes_ > raw_bytes_left_) throw Malformed("the records exceed the block's stated size");
  raw_bytes_left_ -= bytes_;
  if (left_ == 0) expect_end();
  return &header;
}

void EventDecoder::decode_switch() {
  extend(sizeof(wire::SwitchRecord));
  auto& decoded = record<wire::SwitchRecord>();
  decoded.step = model_.step = columns_.switch_steps.delta(model_.step);
  decoded.to = static_cast<ThreadId>(columns_.switch_targets.bounded(kMaxU16));
  const std::uint64_t reasons = columns_.switch_reasons.bounded(kMaxU16);
  decoded.reason = static_cast<std::uint8_t>(reasons);
  decoded.timed_out = static_cast<std::uint8_t>(reasons >> 8);
  decoded.tick = static_cast<std::uint32_t>(columns_.switch_ticks.bounded(kMaxU32));
  model_.thread = decoded.to;
}

void EventDecoder::decode_syscall() {
  wire::SyscallRecord call{};
  call.header.thread = model_.thread;
  const std::uint32_t place = decode_place();
  call.number = static_cast<std::uint32_t>(columns_.call_numbers.bounded(kMaxU32));
  CallState state = model_.call_in(place, call.number);
  state.check ^= static_cast<std::uint32_t>(columns_.call_checks.bounded(kMaxU32));
  call.context = std::uint64_t{places_[place]} << 32 | state.check;
  call.flags = static_cast<std::uint32_t>(columns_.call_flags.bounded(kMaxU32));
  state.result = columns_.call_results.delta(state.result);
  call.result = static_cast<std::int64_t>(state.result);
  for (std::size_t i = 0; i < 6; ++i) call.args[i] = state.args[i] = columns_.call_args[i].delta(state.args[i]);
  call.step = model_.step = columns_.call_steps.delta(model_.step);
  extend(sizeof call);
  decode_outputs(call, state);
  call.flags &= ~wire::kOutputApart;
  record<wire::SyscallRecord>() = call;
  model_.learn(call.header.thread, place, call.number, state);
}

std::uint32_t EventDecoder::decode_place() {
  const std::uint32_t next = model_.place_count() + 1;
  auto place = static_cast<std::uint32_t>(columns_.call_places.bounded(next));
  if (place == 0) place = model_.predicted_place(model_.thread);
  if (place == 0) throw Malformed("a call's place was not predicted");
  if (place == next) places_.push_back(columns_.call_new_places.u32());
  return place;
}

void EventDecoder::decode_outputs(const wire::SyscallRecord& call, CallState& state) {
  for (std::uint64_t left = columns_.call_output_counts.varint(); left > 0; --left) {
    const std::uint8_t shape = columns_.shapes.byte();
    const std::uint8_t base = shape & output_shape::kBaseMask;
    if ((shape & output_shape::kReserved) != 0 || base > output_shape::kExplicit)
      throw Malformed("an output of unknown shape");
    wire::OutputChunk chunk{};
    chunk.address = base == output_shape::kExplicit ? columns_.addresses.delta(state.output_end) : call.args[base];
    chunk.bytes =
        (shape & output_shape::kLengthIsResult) != 0 ? state.result : columns_.lengths.delta(state.output_length);
    std::memcpy(extend(sizeof chunk), &chunk, sizeof chunk);
    decode_data(call, chunk.bytes);
    state.output_end = chunk.address + chunk.bytes;
    state.output_length = chunk.bytes;
  }
}

void EventDecoder::decode_data(const wire::SyscallRecord& call, std::uint64_t bytes) {
  const bool is_apart = (call.flags & wire::kOutputApart) != 0;
  const std::uint8_t* data = columns_.payload.take(is_apart ? sizeof(wire::StoredApart) : bytes);
  if (bytes == 0) return;
  if (bytes > kMaxRecordBytes) throw Malformed("an output exceeds the limit of records");  // before it is padded
  std::uint8_t* place = extend(padded(bytes));
  std::memset(place + bytes, 0, padded(bytes) - bytes);
  if (!is_apart) {
    std::memcpy(place, data, bytes);
    return;
  }
  wire::StoredApart stored;
  std::memcpy(&stored, data, sizeof stored);
  if (apart_ == nullptr) throw Malformed("an output is stored apart, which is not allowed here");
  apart_->read(stored, bytes, place);
}

void EventDecoder::decode_clock() {
  extend(sizeof(wire::ClockRecord));
  auto& decoded = record<wire::ClockRecord>();
  decoded.step = model_.step = columns_.clock_steps.delta(model_.step);
  model_.clock_context ^= static_cast<std::uint32_t>(columns_.clock_contexts.bounded(kMaxU32));
  decoded.context = model_.clock_context;
  decoded.clock = static_cast<std::uint32_t>(columns_.clock_ids.bounded(kMaxU32));
  std::uint64_t& time = model_.time_of(decoded.clock);
  time = columns_.clock_times.delta(time);
  decoded.time = static_cast<std::int64_t>(time);
}

void EventDecoder::decode_raw() {
  const std::uint64_t bytes = columns_.raw.bounded(kMaxRecordBytes - sizeof(wire::RecordHeader));
  if (bytes % 8 != 0) throw Malformed("a record that is not a whole number of words");
  const std::uint8_t* data = columns_.raw.take(bytes);
  std::uint8_t* place = extend(sizeof(wire::RecordHeader) + bytes);
  if (bytes != 0) std::memcpy(place + sizeof(wire::RecordHeader), data, bytes);
}

std::uint8_t* EventDecoder::extend(std::uint64_t bytes) {
  if (bytes > kMaxRecordBytes - bytes_) throw Malformed("a record exceeds the limit");
  const std::size_t before = bytes_;
  bytes_ += bytes;
  if (bytes_ / 8 > words_.size()) words_.resize(bytes_ / 8 + words_.size());
  return reinterpret_cast<std::uint8_t*>(words_.data()) + before;
}

void EventDecoder::expect_end() {
  if (raw_bytes_left_ != 0) throw Malformed("the records fall short of the block's stated size");
  columns_.each([](const ColumnReader& column) { column.expect_end(); });
}

}  // namespace reweave
