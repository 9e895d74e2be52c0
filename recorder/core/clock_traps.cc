#include "recorder/core/clock_traps.h"

#include <signal.h>

#include "recorder/core/clock_instructions.h"
#include "recorder/core/code_patterns.h"
#include "recorder/core/code_search.h"
#include "recorder/core/dispatch.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/stubs.h"

namespace reweave::core {

namespace {

struct Place {
  std::uint64_t at;
  std::uint64_t bytes;
};

constexpr std::uint32_t kMaxPlaces = 256;
Place places[kMaxPlaces];
std::uint32_t place_count;

const Place* place_at(std::uint64_t ip) {
  for (std::uint32_t i = 0; i < place_count; i++)
    if (places[i].at == ip) return &places[i];
  return nullptr;
}

bool trap(std::uint64_t at, std::uint64_t bytes) {
  const Place* known = place_at(at);
  if (known == nullptr && place_count == kMaxPlaces) return false;
  const Writable page(at, bytes);
  if (!page.done()) return false;
  *reinterpret_cast<std::uint8_t*>(at + 1) = kInvalidOpcode;
  places[known != nullptr ? static_cast<std::uint32_t>(known - places) : place_count++] = {at, bytes};
  return true;
}

long read_clock(void*) {
  asm volatile("rdtsc" ::: "rax", "rdx");
  return 0;
}

}  // namespace

void try_clock_fault() {
  Thread& me = self();
  state().clock_reads_pass = core_guarded(read_clock, nullptr, &me.call_frame) == 0 ? 1 : 0;
  me.call_frame = 0;
}

bool trap_clock_reads(std::uint64_t start, std::uint64_t end) {
  const Region* region = code_region(start);
  if (state().clock_reads_pass == 0 || region == nullptr || end > region->end) return false;
  constexpr std::uint64_t kBytes = 3;
  const std::uint64_t last = end - kBytes;
  bool any = false;
  for (std::uint64_t at = find_clock_pair(start, last); at < last; at = find_clock_pair(at + 1, last)) {
    const std::uint32_t bytes = clock_instruction(code_at(start), code_at(at), code_at(end));
    any |= bytes != 0 && trap(at, bytes);
  }
  return any;
}

std::uint64_t trapped_clock_bytes(std::uint64_t ip) {
  const Place* place = place_at(ip);
  return place != nullptr && code_region(ip) != nullptr && code_at(ip)[1] == kInvalidOpcode ? place->bytes : 0;
}

void show_clock_fault(const KernelContext& context, int& number, const void*& info) {
  static const std::uint64_t protection[16] = {SIGSEGV, SI_KERNEL};  // si_signo and si_errno, si_code; no address
  const std::uint64_t ip = context.registers.rip;
  const bool reads = in_stub(ip) || trapped_clock_bytes(ip) != 0;
  if (number != SIGILL || self().tsc_faults == 0 || !reads) return;
  number = SIGSEGV;
  info = protection;
}

}  // namespace reweave::core
