#include "formats/recording/event_encoder.h"

#include "formats/base/message.h"

namespace reweave {
namespace {

bool all_zero(const std::uint8_t* from, const std::uint8_t* to) {
  for (; from != to; ++from)
    if (*from != 0) return false;
  return true;
}

bool is_plain_switch(const wire::RecordHeader* record) {
  return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSwitch) &&
         record->bytes == sizeof(wire::SwitchRecord);
}

bool is_syscall(const wire::RecordHeader* record) {
  return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
         record->bytes >= sizeof(wire::SyscallRecord);
}

bool is_plain_clock(const wire::RecordHeader* record) {
  return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kClock) &&
         record->bytes == sizeof(wire::ClockRecord);
}

bool is_apart(const wire::RecordHeader* record) {
  return is_syscall(record) && (wire::record_cast<wire::SyscallRecord>(*record).flags & wire::kOutputApart) != 0;
}

}  // namespace

void EventEncoder::add(const wire::RecordHeader* record) {
  REQUIRE(record->bytes >= sizeof *record && record->bytes % 8 == 0 && record->bytes <= kMaxRecordBytes,
          "a record of {} bytes cannot be recorded", record->bytes);
  REQUIRE(record->kind != 0 && record->kind <= event_head::kKindMask, "a record of kind {} cannot be recorded",
          record->kind);
  ++count_;
  auto head = static_cast<std::uint8_t>(record->kind);
  if (record->thread != model_.thread) {
    head |= event_head::kThread;
    columns_.threads.put_varint(record->thread);
    model_.thread = record->thread;
  }
  if (is_plain_switch(record)) {
    add_switch(wire::record_cast<wire::SwitchRecord>(*record));
  } else if (is_plain_clock(record)) {
    add_clock(wire::record_cast<wire::ClockRecord>(*record));
  } else if (is_syscall(record) && parse_outputs(wire::record_cast<wire::SyscallRecord>(*record))) {
    add_syscall(wire::record_cast<wire::SyscallRecord>(*record));
    if (is_apart(record)) raw_bytes_ += padded(outputs_[0].bytes) - sizeof(wire::StoredApart);
  } else {
    REQUIRE(!is_apart(record), "a system call whose output is apart has another form");
    head |= event_head::kRaw;
    add_raw(record);
  }
  raw_bytes_ += record->bytes;
  columns_.heads.put_byte(head);
}

void EventEncoder::add_switch(const wire::SwitchRecord& record) {
  columns_.switch_steps.put_delta(record.step, model_.step);
  columns_.switch_targets.put_varint(record.to);
  columns_.switch_reasons.put_varint(record.reason | static_cast<std::uint32_t>(record.timed_out) << 8);
  columns_.switch_ticks.put_varint(record.tick);
  model_.step = record.step;
  model_.thread = record.to;
}

// Fills outputs_ if the bytes after the call are outputs in exactly the form that the decoder produces.
bool EventEncoder::parse_outputs(const wire::SyscallRecord& call) {
  outputs_.clear();
  if (is_apart(&call.header)) return parse_apart(call);
  const auto* next = reinterpret_cast<const std::uint8_t*>(&call) + sizeof call;
  const auto* end = reinterpret_cast<const std::uint8_t*>(&call) + call.header.bytes;
  while (next != end) {
    if (static_cast<std::size_t>(end - next) < sizeof(wire::OutputChunk)) return false;
    wire::OutputChunk chunk{};
    std::memcpy(&chunk, next, sizeof chunk);
    next += sizeof chunk;
    const auto room = static_cast<std::uint64_t>(end - next);
    if (chunk.bytes > room || padded(chunk.bytes) > room) return false;
    if (!all_zero(next + chunk.bytes, next + padded(chunk.bytes))) return false;
    outputs_.push_back({chunk.address, chunk.bytes, next});
    next += padded(chunk.bytes);
  }
  return true;
}

bool EventEncoder::parse_apart(const wire::SyscallRecord& call) {
  const auto* chunk = reinterpret_cast<const wire::OutputChunk*>(&call + 1);
  if (call.header.bytes != sizeof call + sizeof *chunk + sizeof(wire::StoredApart)) return false;
  outputs_.push_back({chunk->address, chunk->bytes, reinterpret_cast<const std::uint8_t*>(chunk + 1)});
  return chunk->bytes <= kMaxRecordBytes / 2;
}

void EventEncoder::add_syscall(const wire::SyscallRecord& call) {
  const std::uint32_t place = add_place(call.header.thread, place_of(call.context));
  CallState state = model_.call_in(place, call.number);
  columns_.call_checks.put_varint(check_of(call.context) ^ state.check);
  state.check = check_of(call.context);
  columns_.call_numbers.put_varint(call.number);
  columns_.call_flags.put_varint(call.flags);
  columns_.call_results.put_delta(static_cast<std::uint64_t>(call.result), state.result);
  for (std::size_t i = 0; i < 6; ++i) {
    columns_.call_args[i].put_delta(call.args[i], state.args[i]);
    state.args[i] = call.args[i];
  }
  columns_.call_steps.put_delta(call.step, model_.step);
  model_.step = call.step;
  state.result = static_cast<std::uint64_t>(call.result);
  columns_.call_output_counts.put_varint(outputs_.size());
  add_outputs(call, state);
  model_.learn(call.header.thread, place, call.number, state);
}

std::uint32_t EventEncoder::add_place(ThreadId thread, std::uint32_t place) {
  const std::uint32_t predicted = model_.predicted_place(thread);
  if (predicted != 0 && places_[predicted] == place) {
    columns_.call_places.put_varint(0);
    return predicted;
  }
  const auto [known, is_new] = place_numbers_.try_emplace(place, model_.place_count() + 1);
  if (is_new) {
    columns_.call_new_places.put_u32(place);
    places_.push_back(place);
  }
  columns_.call_places.put_varint(known->second);
  return known->second;
}

void EventEncoder::add_outputs(const wire::SyscallRecord& call, CallState& state) {
  for (const Output& output : outputs_) {
    std::uint8_t base = 0;
    while (base < output_shape::kExplicit && call.args[base] != output.address) ++base;
    const bool is_result = output.bytes == static_cast<std::uint64_t>(call.result);
    columns_.shapes.put_byte(static_cast<std::uint8_t>(base | (is_result ? output_shape::kLengthIsResult : 0)));
    if (base == output_shape::kExplicit) columns_.addresses.put_delta(output.address, state.output_end);
    if (!is_result) columns_.lengths.put_delta(output.bytes, state.output_length);
    columns_.payload.put_bytes(output.data, is_apart(&call.header) ? sizeof(wire::StoredApart) : output.bytes);
    state.output_end = output.address + output.bytes;
    state.output_length = output.bytes;
  }
}

void EventEncoder::add_clock(const wire::ClockRecord& record) {
  columns_.clock_steps.put_delta(record.step, model_.step);
  columns_.clock_contexts.put_varint(record.context ^ model_.clock_context);
  columns_.clock_ids.put_varint(record.clock);
  const auto time = static_cast<std::uint64_t>(record.time);
  columns_.clock_times.put_delta(time, model_.time_of(record.clock));
  model_.step = record.step;
  model_.clock_context = record.context;
  model_.time_of(record.clock) = time;
}

void EventEncoder::add_raw(const wire::RecordHeader* record) {
  columns_.raw.put_varint(record->bytes - sizeof *record);
  columns_.raw.put_bytes(record + 1, record->bytes - sizeof *record);
}

std::size_t EventEncoder::column_bytes() const {
  // The other columns are a few bytes a record.
  return columns_.payload.size() + columns_.raw.size() + std::size_t{count_} * 64;
}

void EventEncoder::emit(schema::EventBlock::Builder block) {
  block.setCount(count_);
  block.setRawBytes(raw_bytes_);
  block.setHeads(data_of(columns_.heads.bytes()));
  block.setThreads(data_of(columns_.threads.bytes()));
  auto switches = block.initSwitches();
  switches.setSteps(data_of(columns_.switch_steps.bytes()));
  switches.setTargets(data_of(columns_.switch_targets.bytes()));
  switches.setReasons(data_of(columns_.switch_reasons.bytes()));
  switches.setTicks(data_of(columns_.switch_ticks.bytes()));
  auto calls = block.initSyscalls();
  calls.setPlaces(data_of(columns_.call_places.bytes()));
  calls.setNewPlaces(data_of(columns_.call_new_places.bytes()));
  calls.setChecks(data_of(columns_.call_checks.bytes()));
  calls.setNumbers(data_of(columns_.call_numbers.bytes()));
  calls.setFlags(data_of(columns_.call_flags.bytes()));
  calls.setResults(data_of(columns_.call_results.bytes()));
  auto args = calls.initArgs(6);
  for (unsigned i = 0; i < 6; ++i) args.set(i, data_of(columns_.call_args[i].bytes()));
  calls.setSteps(data_of(columns_.call_steps.bytes()));
  calls.setOutputCounts(data_of(columns_.call_output_counts.bytes()));
  auto outputs = block.initOutputs();
  outputs.setShapes(data_of(columns_.shapes.bytes()));
  outputs.setAddresses(data_of(columns_.addresses.bytes()));
  outputs.setLengths(data_of(columns_.lengths.bytes()));
  outputs.setPayload(data_of(columns_.payload.bytes()));
  block.setRaw(data_of(columns_.raw.bytes()));
  auto clocks = block.initClocks();
  clocks.setSteps(data_of(columns_.clock_steps.bytes()));
  clocks.setContexts(data_of(columns_.clock_contexts.bytes()));
  clocks.setClocks(data_of(columns_.clock_ids.bytes()));
  clocks.setTimes(data_of(columns_.clock_times.bytes()));
  reset();
}

void EventEncoder::reset() {
  columns_.each([](ColumnWriter& column) { column.clear(); });
  place_numbers_.clear();
  places_.assign(1, 0);
  model_.reset();
  count_ = 0;
  raw_bytes_ = 0;
}

}  // namespace reweave
