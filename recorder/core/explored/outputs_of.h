// What recorded calls wrote to memory, and the one way in which an explored run writes it to its own: never beyond what
// the call that it answers has room for.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/recorded_calls.h"
#include "recorder/core/log/pseudo_calls.h"

namespace reweave::core {

// Calls use(chunk, data) for each output of the recorded call, in order.
template <typename Use>
void for_each_output(const RecordedCall& call, const Use& use) {
  for (std::uint64_t part = call.parts; part <= call.offset; part += record_at(part)->bytes) {
    const auto& holder = *reinterpret_cast<const wire::SyscallRecord*>(record_at(part));
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

// Calls use(data, bytes) for what the recorded call read from its file, in order.
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

// Copies to `to`, from its byte `at` on; what there is no room for is left out. Returns how many bytes were copied.
std::uint64_t copy_out(const Spans& to, std::uint64_t at, const std::byte* data, std::uint64_t bytes);
// Lists in `outputs` the first `bytes` bytes of `spans`. How many there are.
std::uint32_t outputs_of(const Spans& spans, std::uint64_t bytes, Output* outputs);

// Whether all that the recorded call wrote has a place in memory that `call` may write to.
bool outputs_fit(const Call& call, const RecordedCall& recorded);
// Writes it there, and lists it in `outputs`.
std::uint32_t take_outputs(const Call& call, const RecordedCall& recorded, Output* outputs);

}  // namespace reweave::core
