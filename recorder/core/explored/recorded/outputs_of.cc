#include "recorder/core/explored/recorded/outputs_of.h"

#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Memory that a call may write to, starting at the first byte of an output.
struct Place {
  std::uint64_t address, room;  // 0: the call does not want it
  bool cuts;                    // what does not fit is omitted, as the kernel does
};

// Returns the room for `out` in a call with the arguments `args`. The room for a socket address is stored in the
// program's memory, which is not available for a recorded call (`in_memory` is false); the result is then 1.
std::uint64_t room_of(const Out& out, const long* args, bool in_memory) {
  const auto count = static_cast<std::uint64_t>(args[out.count]);
  switch (out.kind) {
    case OutKind::kFixed:
    case OutKind::kInOutFixed:
      return out.size;
    case OutKind::kByResult:
    case OutKind::kByCount:
    case OutKind::kInOutCount:
      return count * out.size;
    case OutKind::kByPage:
      return (count + 4095) / 4096;
    case OutKind::kMessage:
      return sizeof(long) + count;
    case OutKind::kBits:
      return count > 1 ? (count - 1 + 63) / 64 * 8 : 0;
    case OutKind::kSocket:
      if (!in_memory) return 1;
      return count == 0 ? 0 : *reinterpret_cast<const std::uint32_t*>(count);
    default:
      return 0;
  }
}

void copy_arguments(long (&to)[6], const wire::SyscallRecord& record) {
  for (int i = 0; i < 6; i++) to[i] = static_cast<long>(record.args[i]);
}

bool place_in_rows(const Call& call, const long (&recorded)[6], std::uint64_t address, Place& to) {
  for (const Out& out : call.row->outs) {
    if (out.kind == OutKind::kNone) break;
    const auto base = static_cast<std::uint64_t>(recorded[out.arg]),
               own = static_cast<std::uint64_t>(call.logged[out.arg]);
    if (out.kind == OutKind::kSocket && address == static_cast<std::uint64_t>(recorded[out.count])) {
      const auto length = static_cast<std::uint64_t>(call.logged[out.count]);
      return to = {length, length == 0 ? 0u : 4u, false}, true;
    }
    if (base == 0 || address < base || address - base >= room_of(out, recorded, false)) continue;
    const std::uint64_t room = own == 0 ? 0 : room_of(out, call.logged, true), offset = address - base;
    to = {own == 0 ? 0 : own + offset, room > offset ? room - offset : 0, out.kind == OutKind::kSocket};
    return true;
  }
  return false;
}

// A call without outputs in its row writes to an argument, and the number of bytes depends on its command. Both calls
// have the same command, so they write the same number.
bool place_at_argument(const Call& call, const long (&recorded)[6], std::uint64_t address, std::uint64_t bytes,
                       Place& to) {
  if (call.row->outs[0].kind != OutKind::kNone) return false;
  for (int i = 0; i < call.row->argument_count; i++) {
    if (recorded[i] == 0 || static_cast<std::uint64_t>(recorded[i]) != address) continue;
    const auto own = static_cast<std::uint64_t>(call.logged[i]);
    std::uint64_t room = bytes_writable(own, bytes);
    if (call.number == SYS_sched_getaffinity) room = static_cast<std::uint64_t>(call.logged[1]);
    return to = {own, room, false}, true;
  }
  return false;
}

bool place_of(const Call& call, const long (&recorded)[6], const wire::OutputChunk& chunk, Place& to) {
  return place_in_rows(call, recorded, chunk.address, to) ||
         place_at_argument(call, recorded, chunk.address, chunk.bytes, to);
}

bool has_vector(const Call& call) { return call.row->outs[0].kind == OutKind::kVector; }

Spans vector_of(const Call& call) {
  const Out& out = call.row->outs[0];
  return {reinterpret_cast<const Span*>(call.logged[out.arg]), static_cast<std::uint32_t>(call.logged[out.count])};
}

// True if the call wants an output that the recorded one did not, or more than that had room for.
bool wants_more(const Call& call, const wire::SyscallRecord& record) {
  for (const Out& out : call.row->outs) {
    const bool was_full = out.kind == OutKind::kByResult && record.result > 0 &&
                          record.args[out.count] <= static_cast<std::uint64_t>(record.result);
    if (was_full && static_cast<std::uint64_t>(call.logged[out.count]) > record.args[out.count]) return true;
    const bool is_output = out.kind != OutKind::kNone && out.kind != OutKind::kIn && out.kind != OutKind::kInOutFixed;
    if (is_output && record.result >= 0 && call.logged[out.arg] != 0 && record.args[out.arg] == 0) return true;
  }
  return false;
}

}  // namespace

std::uint64_t input_bytes(const RecordedCall& call) {
  const wire::SyscallRecord& record = record_of(call);
  if (record.result <= 0) return 0;
  const auto bytes = static_cast<std::uint64_t>(record.result);
  const Out& out = find_row(record.number)->outs[0];
  const bool has_room = out.kind == OutKind::kByResult && out.count == 2 && out.size == 1;
  return has_room && record.args[2] < bytes ? record.args[2] : bytes;
}

std::uint64_t copy_out(const Spans& to, std::uint64_t at, const std::byte* data, std::uint64_t bytes) {
  std::uint64_t done = 0;
  for (std::uint32_t i = 0; i < to.count && done < bytes; i++) {
    const Span& span = to.list[i];
    if (at >= span.bytes) {
      at -= span.bytes;
      continue;
    }
    const std::uint64_t room = span.bytes - at;
    const std::uint64_t part = room < bytes - done ? room : bytes - done;
    memcpy(span.data + at, data + done, part);
    done += part;
    at = 0;
  }
  return done;
}

std::uint32_t outputs_of(const Spans& spans, std::uint64_t bytes, Output* outputs) {
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < spans.count && bytes > 0 && n < kMaxOutputs; i++) {
    const std::uint64_t part = spans.list[i].bytes < bytes ? spans.list[i].bytes : bytes;
    if (part != 0) outputs[n++] = {reinterpret_cast<std::uint64_t>(spans.list[i].data), part};
    bytes -= part;
  }
  return n;
}

bool outputs_fit(const Call& call, const RecordedCall& recorded) {
  const wire::SyscallRecord& record = record_of(recorded);
  if (has_vector(call) && (call.row->flags & kWritesStream) == 0)
    return record.result <= 0 || static_cast<std::uint64_t>(record.result) <= vector_of(call).bytes();
  if (wants_more(call, record)) return false;
  long args[6];
  copy_arguments(args, record);
  bool fit = true;
  for_each_output(recorded, [&](const wire::OutputChunk& chunk, const std::byte*) {
    Place to;
    fit = fit && place_of(call, args, chunk, to) && (to.address == 0 || to.cuts || chunk.bytes <= to.room);
  });
  return fit;
}

std::uint32_t take_outputs(const Call& call, const RecordedCall& recorded, Output* outputs) {
  long args[6];
  copy_arguments(args, record_of(recorded));
  std::uint32_t n = 0;
  std::uint64_t at = 0;
  const bool vector = has_vector(call);
  for_each_output(recorded, [&](const wire::OutputChunk& chunk, const std::byte* data) {
    if (vector) {
      at += copy_out(vector_of(call), at, data, chunk.bytes);
      return;
    }
    Place to;
    if (n == kMaxOutputs || !place_of(call, args, chunk, to) || to.address == 0) return;
    const Span place = {reinterpret_cast<std::byte*>(to.address), to.room};
    const std::uint64_t bytes = copy_out({&place, 1}, 0, data, chunk.bytes);
    if (bytes != 0) outputs[n++] = {to.address, bytes};
  });
  return vector ? outputs_of(vector_of(call), at, outputs) : n;
}

}  // namespace reweave::core
