#include "recorder/core/code/trapped.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMaxTrapped = 1024;
Trapped all[kMaxTrapped];
std::uint32_t count;

std::uint8_t second_byte(const Trapped& trapped) { return *code_at(trapped.start + trapped.opcode + 1); }

bool is_in_place(const Trapped& trapped) {
  return code_region(trapped.start) != nullptr && second_byte(trapped) == kPrivilegedOpcode;
}

const Trapped* find(std::uint64_t start) {
  for (std::uint32_t i = 0; i < count; i++)
    if (all[i].start == start) return &all[i];
  return nullptr;
}

}  // namespace

void forget_trapped(std::uint64_t start, std::uint64_t end) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; i++)
    if (region_at(all[i].start) != nullptr && (all[i].start < start || all[i].start >= end)) all[kept++] = all[i];
  count = kept;
}

bool is_trapped_full() { return count == kMaxTrapped; }

bool remember_trapped(const Trapped& trapped) {
  if (count == kMaxTrapped) return false;
  all[count++] = trapped;
  return true;
}

void replace_trapped(std::uint64_t start, std::uint64_t end) {
  std::uint64_t first = end, last = start;
  for (std::uint32_t i = 0; i < count; i++) {
    if (all[i].start < start || all[i].start >= end) continue;
    if (all[i].start < first) first = all[i].start;
    if (all[i].start + all[i].bytes > last) last = all[i].start + all[i].bytes;
  }
  if (first >= last) return;
  const Writable pages(first, last - first);
  for (std::uint32_t i = 0; i < count && pages.done(); i++)
    if (all[i].start >= first && all[i].start < last)
      *reinterpret_cast<std::uint8_t*>(all[i].start + all[i].opcode + 1) = kPrivilegedOpcode;
}

bool emulate_trapped(KernelContext& context) {
  const Trapped* trapped = find(context.registers.rip);
  return trapped != nullptr && is_in_place(*trapped) && trapped->emulate(context, *trapped);
}

}  // namespace reweave::core
