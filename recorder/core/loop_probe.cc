#include "recorder/core/loop_probe.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/preemption.h"
#include "recorder/core/signals.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kMaxSteps = 1'000;
constexpr std::uint32_t kIterations = 4;
constexpr std::uint32_t kPatienceMs = 1'000;    // for a thread that computes
constexpr std::uint32_t kLoopPatienceMs = 200;  // for one in a small loop
constexpr std::uint64_t kWordsOfWrite = 5;      // that an instruction writes at the most, if not aligned
constexpr std::uint32_t kMaxOpenPages = 4;      // that one instruction writes

struct Probe {
  bool active;
  Instant start;
  KernelRegisters registers;  // at the start
  std::uint32_t steps, iterations;
  bool recurred;  // came back with all of `start` equal
  bool odd;       // changes what LoopChanges cannot hold
  std::uint32_t open_count;
  std::uint64_t open_pages[kMaxOpenPages];
  LoopChanges changes;
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

void note_word(std::uint64_t word) {
  LoopChanges& changes = probe.changes;
  for (std::uint32_t i = 0; i < changes.count; i++)
    if (changes.words[i] == word) return;
  if (changes.count == LoopChanges::kMaxWords)
    probe.odd = true;
  else
    changes.words[changes.count++] = word;
}

void note_write(std::uint64_t address) {
  std::uint64_t word = address & ~std::uint64_t{7};
  const std::uint64_t page_end = page_down(address) + kPage;
  for (std::uint64_t i = 0; i < kWordsOfWrite && word < page_end; i++, word += 8) note_word(word);
}

// The thread is at the instruction, and in the frame, where the probe began.
void note_iteration(KernelContext& context) {
  const Instant now = instant_of(context);
  probe.iterations++;
  if (now == probe.start) probe.recurred = true;
  if (now.vectors != probe.start.vectors) probe.odd = true;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++)
    if (general_register(context.registers, i) != general_register(probe.registers, i))
      probe.changes.varying |= std::uint64_t{1} << i;
}

// True if the thread should give way: it waits for another, has stalled others for long, or a signal is for it.
bool should_give_way(const Thread& me) {
  const std::uint32_t patience = probe.changes.known ? kLoopPatienceMs : kPatienceMs;
  return probe.recurred || signal_pending(me) || state().stalled_ms.load() >= patience;
}

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
  probe.registers = context.registers;
  protect_memory(false);
  context.registers.eflags |= kTrapFlag;
}

bool on_probe_step(KernelContext& context) {
  if (!probe.active) return false;
  close_pages();
  const KernelRegisters& r = context.registers;
  const bool usable = nameable(r.rip);
  if (r.rip == probe.start.ip && r.rsp == probe.registers.rsp) note_iteration(context);
  if (usable && probe.iterations < kIterations && ++probe.steps < kMaxSteps) return true;
  abandon_probe(context);
  probe.changes.known = probe.iterations == kIterations && !probe.odd;
  if (usable && should_give_way(self())) preempt(context, probe.changes);
  return true;
}

bool on_probe_write(KernelContext& context, std::uint64_t address) {
  if (!probe.active || probe.open_count == kMaxOpenPages) return false;
  const Region* region = region_at(address);
  if (region == nullptr || (region->prot & PROT_WRITE) == 0 || (context.registers.error & 2) == 0) return false;
  note_write(address);
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
