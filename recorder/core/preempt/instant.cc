#include "recorder/core/preempt/instant.h"

#include <elf.h>

#include "recorder/core/code/instruction.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/log/checksum.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/preempt/memory_hash.h"
#include "recorder/core/signals/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kStackWindow = 256;
constexpr std::uint64_t kVectorsOffset = 160, kVectorsBytes = 256;  // xmm0..15 in the floating-point state

struct Range {
  std::uint64_t start, end;
};
constexpr std::uint32_t kMaxShimRanges = 8;
Range shim_ranges[kMaxShimRanges];
std::uint32_t shim_range_count;

std::uint64_t hash_words(std::uint64_t hash, std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t at = start; at + 8 <= end; at += 8) hash = mix(hash, without_ours(word_at(at)));
  return hash;
}

std::uint64_t hash_registers(const KernelRegisters& r) {
  std::uint64_t hash = r.eflags & named_flags();
  for (std::uint64_t word :
       {r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rdi, r.rsi, r.rbp, r.rbx, r.rdx, r.rax, r.rcx, r.rsp})
    hash = mix(hash, without_ours(word));
  return hash;
}

std::uint64_t hash_vectors(const KernelRegisters& r) {
  if (r.fp_state == 0) return 0;
  return hash_words(0, r.fp_state + kVectorsOffset, r.fp_state + kVectorsOffset + kVectorsBytes);
}

std::uint64_t hash_stack(std::uint64_t sp) {
  const Region* region = region_at(sp);
  if (region == nullptr) return 0;
  const std::uint64_t end = region->accessible_end();
  return hash_words(0, sp, end - sp < kStackWindow ? end : sp + kStackWindow);
}

}  // namespace

Instant instant_of(const KernelContext& context) {
  const KernelRegisters& r = context.registers;
  return {r.rip, hash_registers(r), hash_stack(r.rsp), hash_vectors(r)};
}

bool is_shim(std::uint64_t address) {
  for (std::uint32_t i = 0; i < shim_range_count; i++)
    if (address >= shim_ranges[i].start && address < shim_ranges[i].end) return true;
  return false;
}

bool nameable(std::uint64_t ip) {
  if (in_core(ip) || region_at(ip) == nullptr || is_patched(ip)) return false;
  if (is_shim(ip)) return false;
  const auto* code = reinterpret_cast<const std::uint8_t*>(ip);
  const bool pushes_flags = code[0] == 0x9c;
  const bool system_call = code[0] == 0x0f && code[1] == 0x05;
  return !pushes_flags && !system_call && !repeats(code);
}

bool is_shim_file(const char* path) { return starts_with(base_name(path), "libreweave"); }

bool is_shim_known() { return shim_range_count != 0; }

void note_shim(const char* path, std::uint64_t base) {
  if (!is_shim_file(path) || shim_range_count == kMaxShimRanges) return;
  const auto* file = reinterpret_cast<const Elf64_Ehdr*>(base);
  if (is_shim(base) || bytes_there(base, kPage) < kPage || memcmp(file->e_ident, ELFMAG, SELFMAG) != 0) return;
  if (file->e_phoff + file->e_phnum * sizeof(Elf64_Phdr) > kPage) return;
  const auto* headers = reinterpret_cast<const Elf64_Phdr*>(base + file->e_phoff);
  std::uint64_t end = base;
  for (const Elf64_Phdr* header = headers; header < headers + file->e_phnum; header++)
    if (header->p_type == PT_LOAD) end = page_up(base + header->p_vaddr + header->p_memsz);
  shim_ranges[shim_range_count++] = {base, end};
}

std::uint64_t& general_register(KernelRegisters& registers, std::uint32_t i) {
  return reinterpret_cast<std::uint64_t*>(&registers)[i];
}

std::uint64_t hashed_bytes() {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < regions().count; i++) {
    const Region& region = regions().items[i];
    if (is_hashed(region, HashedMemory::kOfTree)) bytes += region.accessible_end() - region.start;
  }
  return bytes;
}

Without::Without(const NamedWords& words) : words_(words) {
  std::uint32_t n = 0;
  for (const wire::NamedWord& word : words_) {
    saved_[n++] = word_at(word.address);
    store_word(word.address, 0);
  }
}

Without::~Without() {
  std::uint32_t n = 0;
  for (const wire::NamedWord& word : words_) store_word(word.address, saved_[n++]);
}

}  // namespace reweave::core
