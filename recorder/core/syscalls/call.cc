#include "recorder/core/syscalls/call.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/schedule/recorded_switches.h"
#include "recorder/core/syscalls/named_files.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/syscalls/unused_arguments.h"

namespace reweave::core {

namespace {

[[noreturn]] void call_diverged(const Call& call, const wire::RecordHeader* record, const char* what) {
  Text text;
  text << "system call " << (call.row != nullptr ? call.row->name : "?") << " (number " << static_cast<int>(call.number)
       << ")" << what << " with (";
  for (int i = 0; i < 6; i++) text.hex(static_cast<std::uint64_t>(call.logged[i])) << (i < 5 ? ", " : ")");
  text << " at ip ";
  text.hex(call.context.registers.rip);
  diverged(text.c_str(), record);
}

const wire::SyscallRecord& expect_call(Call& call) {
  follow_recorded_switches(wire::SwitchReason::kInKernel);  // a thread may also sleep before it makes the call
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr) end_of_recording();
  if (header->kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall) || header->thread != call.me.id)
    call_diverged(call, header, "");
  const auto& record = wire::record_cast<wire::SyscallRecord>(*header);
  if (record.number != static_cast<std::uint32_t>(call.number)) call_diverged(call, header, "");
  for (int i = 0; i < call.row->argument_count; i++) {
    const bool equal = record.args[i] == static_cast<std::uint64_t>(call.logged[i]);
    if (!equal && !is_unused(call.number, call.logged, i)) call_diverged(call, header, "");
  }
  if (record.context != context_hash(call.context.registers))
    call_diverged(call, header, " from another place or stack");
  if (record.step != state().step) call_diverged(call, header, " at another schedule point");
  return record;
}

std::uint64_t logged_bytes(const Output& output, const wire::KeptRange* kept) {
  return sizeof(wire::OutputChunk) + (kept == nullptr ? round_to(output.bytes, 8) : sizeof *kept);
}

void append_output(RecordWriter& record, const Output& output, const wire::KeptRange* kept) {
  *reinterpret_cast<wire::OutputChunk*>(record.append_space(sizeof(wire::OutputChunk))) = {output.address,
                                                                                           output.bytes};
  if (kept == nullptr) return record.append(reinterpret_cast<const void*>(output.address), output.bytes);
  record.append(kept, sizeof *kept);
}

void append_names(RecordWriter& record, const NamedText& names) {
  record.body<wire::SyscallRecord>().flags |= wire::kNamesFiles;
  *reinterpret_cast<wire::OutputChunk*>(record.append_space(sizeof(wire::OutputChunk))) = {0, names.bytes()};
  record.append(&names, names.bytes());
}

void log_part(const Output& part, const wire::KeptRange* kept) {
  PseudoCall record(wire::kOutputPart, logged_bytes(part, kept) - sizeof(wire::OutputChunk));
  record.fields().flags = kept == nullptr ? 0 : wire::kOutputApart;
  append_output(record, part, kept);
  record.commit();
}

constexpr std::uint64_t kPartBytes = kMaxRecordBytes / 4;

// Logs all of `outputs`, in records of their own.
void log_parts(const Output* outputs, std::uint32_t count, const wire::KeptRange* kept) {
  for (std::uint32_t i = 0; i < count; i++)
    for (std::uint64_t at = 0; at < outputs[i].bytes; at += kPartBytes) {
      const std::uint64_t left = outputs[i].bytes - at;
      const wire::KeptRange range =
          kept == nullptr ? wire::KeptRange{} : wire::KeptRange{kept->file, kept->offset + at};
      const Output part = {outputs[i].address + at, left < kPartBytes ? left : kPartBytes};
      log_part(part, kept == nullptr ? nullptr : &range);
    }
}

// Writes the outputs in `record` to memory. False: the record is damaged.
bool apply_outputs(const wire::SyscallRecord& record) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  std::uint64_t at = sizeof(wire::SyscallRecord);
  bool is_names = (record.flags & wire::kNamesFiles) != 0;
  while (at + sizeof(wire::OutputChunk) <= record.header.bytes) {
    wire::OutputChunk chunk;
    memcpy(&chunk, bytes + at, sizeof chunk);
    at += sizeof chunk;
    if (chunk.bytes > record.header.bytes - at) return false;
    if (!is_names) memcpy(reinterpret_cast<void*>(chunk.address), bytes + at, chunk.bytes);
    is_names = false;
    at += round_to(chunk.bytes, 8);
  }
  return true;
}

void apply_parts(const Call& call) {
  for (;;) {
    repeat_outside_deaths();
    const wire::RecordHeader* header = peek_record();
    if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) return;
    const auto& record = wire::record_cast<wire::SyscallRecord>(*header);
    if (record.number != wire::kOutputPart || header->thread != call.me.id) return;
    if (!apply_outputs(record)) call_diverged(call, header, " whose record is damaged");
    consume_record();
  }
}

}  // namespace

void trace_call(const KernelContext& context, long number) {
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(EventKind::kSyscall, 0, 0, true);
  words[1] = wire::pack_word1(context.registers.rip, self().id);
  words[2] = static_cast<std::uint64_t>(number);
  publish_out(24);
}

void log_outputs_before(const Output* outputs, std::uint32_t count) { log_parts(outputs, count, nullptr); }

void log_call(Call& call, long result, const Output* outputs, std::uint32_t count, const wire::KeptRange* kept) {
  std::uint64_t extra = 0,
                whole = sizeof(wire::SyscallRecord);  // sizes in the log, and in the record that a replay gets
  for (std::uint32_t i = 0; i < count; i++) {
    extra += logged_bytes(outputs[i], kept);
    whole += logged_bytes(outputs[i], nullptr);
  }
  if (whole > kMaxRecordBytes) {
    log_parts(outputs, count, kept);
    extra = count = 0;
  }
  const NamedText* names = names_of(call, result);
  if (names != nullptr) extra += sizeof(wire::OutputChunk) + round_to(names->bytes(), 8);
  RecordWriter record(wire::RecordKind::kSyscall, call.me.id, sizeof(wire::SyscallRecord), extra);
  auto& body = record.body<wire::SyscallRecord>();
  body.number = static_cast<std::uint32_t>(call.number);
  body.flags = call.flags | (kept == nullptr || count == 0 ? 0 : wire::kOutputApart);
  body.result = result;
  copy_words(body.args, call.logged);
  for (int i = call.row->argument_count; i < 6; i++) body.args[i] = 0;
  body.step = state().step;
  body.context = context_hash(call.context.registers);
  if (names != nullptr) append_names(record, *names);
  for (std::uint32_t i = 0; i < count; i++) append_output(record, outputs[i], kept);
  record.commit();
  call.completed = true;
  log_checksum(call.context);
}

long complete(Call& call, long result) {
  if (!replaying()) {
    log_call(call, result, nullptr, 0);
    return result;
  }
  const wire::SyscallRecord& record = expect_call(call);
  if (record.result != result) {
    Text text;
    text << " that returned ";
    text.hex(static_cast<std::uint64_t>(result)) << ", recorded ";
    text.hex(static_cast<std::uint64_t>(record.result));
    call_diverged(call, &record.header, text.c_str());
  }
  consume_record();
  call.completed = true;
  check_checksum(call.context);
  return result;
}

bool next_result(const Call& call, long& result) {
  if (!replaying()) return false;
  follow_recorded_switches(wire::SwitchReason::kInKernel);
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) return false;
  const auto& record = wire::record_cast<wire::SyscallRecord>(*header);
  result = record.result;
  return header->thread == call.me.id && record.number == static_cast<std::uint32_t>(call.number);
}

// Logs `reached` as an output of 0 bytes at that address; stopped_at() looks for it.
long log_stopped(Call& call, long result, std::uint64_t reached) {
  const Output place = {reached, 0};
  log_call(call, result, &place, 1);
  return result;
}

bool stopped_at(const Call& call, std::uint64_t& reached) {
  long result = 0;
  if (!next_result(call, result)) return false;
  const wire::RecordHeader& record = *peek_record();
  const wire::OutputChunk* place = sole_chunk(record);
  if (place == nullptr || place->bytes != 0) return false;
  reached = place->address;
  return true;
}

bool has_failed(const Call& call) {
  long result = 0;
  return next_result(call, result) && is_error(result);
}

long inject(Call& call) {
  apply_parts(call);
  const wire::SyscallRecord& record = expect_call(call);
  if (!apply_outputs(record)) call_diverged(call, &record.header, " whose record is damaged");
  call.flags = record.flags;
  const long result = record.result;
  consume_record();
  call.completed = true;
  check_checksum(call.context);
  return result;
}

long tell(Call& call, long result, const Output* outputs, std::uint32_t count) {
  if (replaying()) return inject(call);
  log_call(call, result, outputs, count);
  return result;
}

}  // namespace reweave::core
