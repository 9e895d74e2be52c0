#include "recorder/core/loop_probe.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/preemption.h"
#include "recorder/core/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMaxSteps = 1'000;
constexpr std::uint32_t kPatienceMs = 1'000;  // for a thread that computes
constexpr std::uint32_t kMaxWords = 8;
constexpr std::uint32_t kMaxOpenPages = 4;  // that one instruction writes

struct Probe {
  bool active;
  Instant start;
  std::uint32_t steps;
  std::uint32_t open_count, word_count;
  std::uint64_t open_pages[kMaxOpenPages];
  std::uint64_t words[kMaxWords];
};
Probe probe;

void protect_memory(bool writable) {
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if ((region.prot & PROT_WRITE) == 0) continue;
    const std::uint32_t prot = writable ? region.prot : region.prot & ~static_cast<std::uint32_t>(PROT_WRITE);
    sys(SYS_mprotect, region.start, region.end - region.start, prot);
  }
}

void close_pages() {
  for (std::uint32_t i = 0; i < probe.open_count; i++) {
    const Region* region = region_at(probe.open_pages[i]);
    sys(SYS_mprotect, probe.open_pages[i], kPage, region->prot & ~static_cast<std::uint32_t>(PROT_WRITE));
  }
  probe.open_count = 0;
}

void note_word(std::uint64_t address, std::uint64_t sp) {
  const std::uint64_t word = address & ~std::uint64_t{7};
  if (word >= sp && word < sp + kStackWindow - 8) return;  // named with the stack
  for (std::uint32_t i = 0; i < probe.word_count; i++)
    if (probe.words[i] == word) return;
  if (probe.word_count < kMaxWords) probe.words[probe.word_count++] = word;
}

// True if even a thread that computes should give way now.
bool out_of_patience(const Thread& me) { return signal_pending(me) || state().stalled_ms.load() >= kPatienceMs; }

bool is_from_supervisor(const void* info) {
  std::uint64_t value;
  memcpy(&value, static_cast<const std::byte*>(info) + 24, sizeof value);  // si_value
  return static_cast<const std::int32_t*>(info)[2] == -1 /* SI_QUEUE */ && value == kWatchdogValue;
}

}  // namespace

extern "C" void core_on_watchdog(int number, void* info, void* raw_context) {
  if (!is_from_supervisor(info)) return core_on_asynchronous(number, info, raw_context);
  auto& context = *static_cast<KernelContext*>(raw_context);
  if (probe.active || !nameable(context.registers.rip) || state().holder.load() != self().id + 1u) return;
  probe = {};
  probe.active = true;
  probe.start = instant_of(context);
  protect_memory(false);
  context.registers.eflags |= kTrapFlag;
}

bool on_probe_step(KernelContext& context) {
  if (!probe.active) return false;
  close_pages();
  const std::uint64_t ip = context.registers.rip;
  const bool repeats = ip == probe.start.ip && instant_of(context) == probe.start;
  const bool usable = nameable(ip);
  if (!repeats && usable && ++probe.steps < kMaxSteps) return true;
  abandon_probe(context);
  if (usable && (repeats || out_of_patience(self()))) preempt(context, probe.words, probe.word_count);
  return true;
}

bool on_probe_write(KernelContext& context, std::uint64_t address) {
  if (!probe.active || probe.open_count == kMaxOpenPages) return false;
  const Region* region = region_at(address);
  if (region == nullptr || (region->prot & PROT_WRITE) == 0 || (context.registers.error & 2) == 0) return false;
  note_word(address, context.registers.rsp);
  probe.open_pages[probe.open_count++] = page_down(address);
  sys(SYS_mprotect, page_down(address), kPage, region->prot);
  return true;
}

void abandon_probe(KernelContext& context) {
  if (!probe.active) return;
  probe.active = false;
  protect_memory(true);
  context.registers.eflags &= ~kTrapFlag;
}

}  // namespace reweave::core
