#include "recorder/core/log/pseudo_calls.h"

#include <sys/syscall.h>

namespace reweave::core {

PseudoCall::PseudoCall(std::uint32_t number, std::uint64_t bytes)
    : RecordWriter(wire::RecordKind::kSyscall, self().id, sizeof(wire::SyscallRecord),
                   bytes == 0 ? 0 : sizeof(wire::OutputChunk) + round_to(bytes, 8)) {
  wire::SyscallRecord& to = fields();
  memset(&to.number, 0, sizeof to - sizeof to.header);
  to.number = number;
  to.step = state().step;
}

void PseudoCall::append_chunk(std::uint64_t address, const void* data, std::uint64_t bytes) {
  const wire::OutputChunk chunk = {address, bytes};
  append(&chunk, sizeof chunk);
  append(data, bytes);
}

void PseudoCall::append_file(std::uint64_t address, long fd, std::uint64_t bytes, std::uint64_t base) {
  auto* chunk = reinterpret_cast<wire::OutputChunk*>(append_space(sizeof(wire::OutputChunk)));
  // The size is known only after reading, so the data is read straight into its place.
  const long got = sys(SYS_pread64, fd, chunk + 1, bytes, base + address);
  *chunk = {address, got > 0 ? static_cast<std::uint64_t>(got) : 0};
  append_space(chunk->bytes);
}

bool is_pseudo_call(const wire::RecordHeader& record, std::uint32_t number) {
  return record.kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
         wire::record_cast<wire::SyscallRecord>(record).number == number;
}

const wire::OutputChunk* sole_chunk(const wire::RecordHeader& record) {
  const auto* chunk = reinterpret_cast<const wire::OutputChunk*>(&wire::record_cast<wire::SyscallRecord>(record) + 1);
  const std::uint64_t room = record.bytes - sizeof(wire::SyscallRecord);
  return room >= sizeof *chunk && chunk->bytes <= room - sizeof *chunk ? chunk : nullptr;
}

}  // namespace reweave::core
