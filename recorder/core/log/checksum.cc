#include "recorder/core/log/checksum.h"

#include "recorder/core/base/fatal.h"
#include "recorder/core/log/hooks.h"
#include "recorder/core/log/log.h"

namespace reweave::core {

namespace {

std::uint64_t hash_registers(const KernelContext& context) {
  const auto& r = context.registers;
  std::uint64_t hash = 0;
  // Caller-saved registers are left out: the shim's countdowns change them. The arguments are compared anyway.
  for (std::uint64_t word : {r.rip, r.rsp, r.rbp, r.rbx, r.r12, r.r13, r.r14, r.r15}) hash = mix(hash, word);
  return hash;
}

}  // namespace

void log_checksum(const KernelContext& context) {
  if (config().memory_checksums == 0) return;
  RecordWriter record(wire::RecordKind::kChecksum, self().id, sizeof(wire::ChecksumRecord), 0);
  auto& body = record.body<wire::ChecksumRecord>();
  body.registers = hash_registers(context);
  body.memory = log_hooks.hash_private_memory();
  record.commit();
}

void check_checksum(const KernelContext& context) {
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kChecksum)) return;
  const wire::ChecksumRecord record = wire::record_cast<wire::ChecksumRecord>(*header);
  if (config().memory_checksums != 0) {
    if (record.registers != hash_registers(context)) diverged("registers differ", header);
    if (record.memory != log_hooks.hash_private_memory()) diverged("writable memory differs", header);
  }
  consume_record();
}

}  // namespace reweave::core
