#include "recorder/core/checksum.h"

#include <sys/mman.h>

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"
#include "recorder/core/log.h"
#include "recorder/core/protection_keys.h"

namespace reweave::core {

bool is_hashed(const Region& region, HashedMemory which) {
  if ((region.prot & (PROT_WRITE | PROT_READ)) != (PROT_WRITE | PROT_READ) || region.guarded) return false;
  if (which == HashedMemory::kPrivate) return !region.shared;
  const bool of_tree = region.stand_in == 0 && region.file_end == kNoFile;
  return (region.prot & PROT_EXEC) == 0 && (!region.shared || of_tree);
}

namespace {

constexpr std::uint64_t kPageWords = kPage / 8;

bool is_zero(const std::uint64_t* page) {
  std::uint64_t some = 0;
#pragma GCC unroll 8
  for (std::uint64_t i = 0; i < kPageWords; i++) some |= page[i];
  return some == 0;
}

// In lanes, for each product waits for the one before.
std::uint64_t hash_page(std::uint64_t hash, const std::uint64_t* page) {
  std::uint64_t lanes[4] = {hash, 1, 2, 3};
  for (std::uint64_t i = 0; i < kPageWords; i += 4)
    for (std::uint64_t lane = 0; lane < 4; lane++) lanes[lane] = mix(lanes[lane], page[i + lane]);
  return mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3]));
}

}  // namespace

// Most of a stack has never been touched: pages of zeros are not hashed.
std::uint64_t hash_memory(HashedMemory which) {
  const AllRights to_look;
  std::uint64_t hash = 0;
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if (!is_hashed(region, which)) continue;
    hash = mix(hash, region.start);
    for (std::uint64_t at = region.start; at < region.accessible_end(); at += kPage) {
      const auto* page = reinterpret_cast<const std::uint64_t*>(at);
      if (!is_zero(page)) hash = hash_page(mix(hash, at), page);
    }
  }
  return hash;
}

namespace {

std::uint64_t hash_registers(const KernelContext& context) {
  const auto& r = context.registers;
  std::uint64_t hash = 0;
  // Not those that a call need not preserve: the shim's countdowns pass through them. Arguments are compared anyway.
  for (std::uint64_t word : {r.rip, r.rsp, r.rbp, r.rbx, r.r12, r.r13, r.r14, r.r15}) hash = mix(hash, word);
  return hash;
}

}  // namespace

void log_checksum(const KernelContext& context) {
  if (config().memory_checksums == 0) return;
  RecordWriter record(wire::RecordKind::kChecksum, self().id, sizeof(wire::ChecksumRecord), 0);
  auto& body = record.body<wire::ChecksumRecord>();
  body.registers = hash_registers(context);
  body.memory = hash_memory(HashedMemory::kPrivate);
  record.commit();
}

void check_checksum(const KernelContext& context) {
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kChecksum)) return;
  const wire::ChecksumRecord record = *reinterpret_cast<const wire::ChecksumRecord*>(header);
  if (config().memory_checksums != 0) {
    if (record.registers != hash_registers(context)) diverged("registers differ", header);
    if (record.memory != hash_memory(HashedMemory::kPrivate)) diverged("writable memory differs", header);
  }
  consume_record();
}

}  // namespace reweave::core
