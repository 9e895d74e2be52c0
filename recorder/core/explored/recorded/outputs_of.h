// The data that recorded calls wrote to memory. An explored run writes it to its own memory only through these
// functions, and never more than the call being answered has room for.
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/recorded/calls.h"
#include "recorder/core/log/pseudo_calls.h"

namespace reweave::core {

// Calls use(chunk, data) for each output of the recorded call, in order.
template <typename Use>
void for_each_output(const RecordedCall& call, const Use& use) {
  for (std::uint64_t part = call.parts; part <= call.offset; part += record_at(part)->bytes) {
    const auto& holder = wire::record_cast<wire::SyscallRecord>(*record_at(part));
    if (holder.number == wire::kFileChanged) continue;
    const auto* bytes = reinterpret_cast<const std::byte*>(&holder);
    bool is_names = (holder.flags & wire::kNamesFiles) != 0;
    for (std::uint64_t at = sizeof holder; at + sizeof(wire::OutputChunk) <= holder.header.bytes;) {
      wire::OutputChunk chunk;
      memcpy(&chunk, bytes + at, sizeof chunk);
      at += sizeof chunk;
      if (chunk.bytes > holder.header.bytes - at) break;
      if (!is_names) use(chunk, bytes + at);
      is_names = false;
      at += round_to(chunk.bytes, 8);
    }
  }
}

// Bytes that the recorded call read from its file.
std::uint64_t input_bytes(const RecordedCall& call);

// Calls use(data, bytes) for the bytes that the recorded call read from its file, in order.
template <typename Use>
void for_each_input_chunk(const RecordedCall& call, const Use& use) {
  std::uint64_t all = 0;
  for_each_output(call, [&all](const wire::OutputChunk& chunk, const std::byte*) { all += chunk.bytes; });
  std::uint64_t left = input_bytes(call);
  if (left > all) left = all;
  // recvmsg's data comes last, the others' first.
  std::uint64_t skip = record_of(call).number == 47 /* recvmsg */ ? all - left : 0;
  for_each_output(call, [&](const wire::OutputChunk& chunk, const std::byte* data) {
    const std::uint64_t skipped = skip < chunk.bytes ? skip : chunk.bytes;
    skip -= skipped;
    const std::uint64_t bytes = left < chunk.bytes - skipped ? left : chunk.bytes - skipped;
    if (bytes != 0) use(data + skipped, bytes);
    left -= bytes;
  });
}

// Copies the output from its byte `at` on to `to`, as much as fits. Returns the number of bytes copied.
std::uint64_t copy_out(const Spans& to, std::uint64_t at, const std::byte* data, std::uint64_t bytes);
// Lists the first `bytes` bytes of `spans` in `outputs`. Returns the number of entries.
std::uint32_t outputs_of(const Spans& spans, std::uint64_t bytes, Output* outputs);

// True if everything that the recorded call wrote fits in memory that `call` may write to.
bool outputs_fit(const Call& call, const RecordedCall& recorded);
// Writes it there, and lists it in `outputs`.
std::uint32_t take_outputs(const Call& call, const RecordedCall& recorded, Output* outputs);

}  // namespace reweave::core
