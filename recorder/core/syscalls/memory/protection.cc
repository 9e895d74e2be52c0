// Rights to mapped memory: mprotect, protection keys, seals.
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/signals/protection_keys.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// PR_SET_MDWE (PR_SET_MDWE(2const)): no memory is writable and executable, and none becomes executable later. The core
// keeps the flag, because the kernel would apply it to the core as well.
bool gains_execution(std::uint64_t start, std::uint64_t end, long prot) {
  if (process().write_xor_execute == 0 || (prot & PROT_EXEC) == 0) return false;
  if ((prot & PROT_WRITE) != 0) return true;
  const RegionTable& table = regions();
  for (std::uint32_t i = 0; i < table.count; i++) {
    const Region& region = table.items[i];
    if (region.start < end && region.end > start && (region.prot & PROT_EXEC) == 0) return true;
  }
  return false;
}

namespace {

bool read_implies_exec;

}  // namespace

void note_personality() {
  constexpr long kAsk = 0xffff'ffff;
  read_implies_exec = (sys(SYS_personality, kAsk) & READ_IMPLIES_EXEC) != 0;
}

std::uint32_t rights_of(long prot) {
  const auto rights = static_cast<std::uint32_t>(prot) & (PROT_READ | PROT_WRITE | PROT_EXEC);
  return read_implies_exec && (rights & PROT_READ) != 0 ? rights | PROT_EXEC : rights;
}

namespace {

// PROT_GROWSDOWN extends the change down to the start of a growing mapping. The core maps the main stack in full.
long protect_down(Call& call, std::uint64_t start, std::uint64_t end) {
  const Region* region = region_at(start);
  const bool stack = region != nullptr && region->end > kStackTop - kPage && region->start < kStackTop;
  const std::uint64_t bottom = region != nullptr ? region->start : start;
  const long result = stack ? sys(SYS_mprotect, bottom, end - bottom, call.args[2] & ~PROT_GROWSDOWN)
                            : sys(SYS_mprotect, start, end - start, call.args[2]);
  if (!is_error(result)) protect_region(bottom, end, rights_of(call.args[2]));
  return complete(call, result);
}

// Unless live: true if `prot` would make memory of a file writable that the recorded program could not write. The
// file's replacement does not have that restriction.
bool was_denied(const Region& region, long prot) {
  return !live() && region.read_only && region.shared && (prot & PROT_WRITE) != 0;
}

// Returns the first address in [start, end) at which protecting with `prot` is denied; `end` if there is none. In an
// explored run the kernel denies nothing, because the run's own mappings are always writable.
std::uint64_t first_denied(std::uint64_t start, std::uint64_t end, long prot) {
  for (std::uint64_t at = start; at < end;) {
    const Region* region = region_at(at);
    if (region == nullptr) return end;
    if (was_denied(*region, prot)) return at;
    at = region->end;
  }
  return end;
}

// Replay of an older recording, which does not say where the call failed. The kernel changed everything before the
// failure, mapping by mapping (mprotect(2)). This function changes the memory and the table in the same way.
void protect_up_to_failure(std::uint64_t start, std::uint64_t end, long prot) {
  for (std::uint64_t at = start; at < end;) {
    const Region* region = region_at(at);
    if (region == nullptr || was_denied(*region, prot)) return;
    const std::uint64_t stop = region->end < end ? region->end : end;
    if (is_error(sys(SYS_mprotect, at, stop - at, prot))) return;
    protect_region(at, stop, rights_of(prot));
    at = stop;
  }
}

bool has_hole(std::uint64_t start, std::uint64_t end) {
  while (start < end) {
    const Region* region = region_at(start);
    if (region == nullptr) return true;
    start = region->end;
  }
  return false;
}

bool has_code(std::uint64_t start, std::uint64_t end) {
  while (start < end) {
    const Region* region = region_at(start);
    if (region == nullptr || (region->prot & PROT_EXEC) != 0) return region != nullptr;
    start = region->end;
  }
  return false;
}

long set_protection(const Call& call, std::uint64_t start, std::uint64_t bytes) {
  return sys(call.number, start, bytes, call.args[2], call.args[3]);  // mprotect ignores the last argument
}

long protect(Call& call, std::uint64_t start, std::uint64_t end) {
  const long prot = call.args[2];
  long result = 0;
  std::uint64_t reached = start;
  if (stopped_at(call, reached)) {
    if (reached > start) set_protection(call, start, reached - start);
    if (reached > start) protect_region(start, reached, rights_of(prot));
    return inject(call);
  }
  if (next_result(call, result) && (result == -EACCES || result == -ENOMEM || result == -EPERM)) {
    // ENOMEM without a hole comes from a limit that a replay does not have. EPERM: sealed.
    if (result == -EACCES || (result == -ENOMEM && has_hole(start, end))) protect_up_to_failure(start, end, prot);
    return inject(call);
  }
  if (const std::uint64_t denied = next_result(call, result) ? end : first_denied(start, end, prot); denied < end) {
    if (denied > start) set_protection(call, start, denied - start);
    if (denied > start) protect_region(start, denied, rights_of(prot));
    return log_stopped(call, -EACCES, denied);
  }
  result = set_protection(call, start, static_cast<std::uint64_t>(call.args[1]));
  if (result == 0 && start < end) protect_region(start, end, rights_of(prot));
  if (replaying() || !is_error(result) || start == end) return complete(call, result);
  reached = reached_before_failure(
      start, end, [&call, start](std::uint64_t part) { return !is_error(set_protection(call, start, part)); });
  if (reached > start) protect_region(start, reached, rights_of(prot));
  return log_stopped(call, result, reached);
}

}  // namespace

long handle_mprotect(Call& call) {
  const auto start = static_cast<std::uint64_t>(call.args[0]);
  const std::uint64_t bytes = page_up(static_cast<std::uint64_t>(call.args[1]));
  if (start % kPage != 0) return complete(call, -EINVAL);
  if (gains_execution(start, start + bytes, call.args[2])) return complete(call, -EACCES);
  if (beyond_user_space(start, bytes) && modelled()) return complete(call, -ENOMEM);
  if (beyond_user_space(start, bytes)) return recorded_call(call);  // the kernel knows which error comes first
  if (bytes != 0 && is_ours(start, bytes)) return refused_range(call, "protect");
  if ((call.args[2] & (PROT_GROWSDOWN | PROT_GROWSUP)) == PROT_GROWSDOWN && bytes != 0)
    return protect_down(call, start, start + bytes);
  if ((call.args[2] & 7) != (PROT_READ | PROT_EXEC) && has_code(start, start + bytes))
    remove_patches(start, start + bytes);
  return protect(call, start, start + bytes);
}

// Sealed memory cannot be unmapped or changed. A replay takes the result from the recording, because its kernel may not
// have the call.
long handle_mseal(Call& call) {
  const auto start = static_cast<std::uint64_t>(call.args[0]), bytes = static_cast<std::uint64_t>(call.args[1]);
  if (bytes != 0 && is_ours(start, bytes)) return refused_range(call, "seal");
  return replaying() ? inject(call) : complete(call, sys(call.number, start, bytes, call.args[2]));
}

// Protection keys decide which accesses fault, so a replay allocates the same ones.
long handle_pkey_alloc(Call& call) {
  if (has_failed(call)) return inject(call);
  const long key =
      allocate_key(call.context, static_cast<std::uint64_t>(call.args[0]), static_cast<std::uint64_t>(call.args[1]));
  if (replaying() && is_error(key))
    stop_run(wire::OutcomeKind::kUnsupported,
             "the program uses protection keys, which this machine lacks; replay on one that has them");
  return complete(call, key);
}

long handle_pkey_free(Call& call) {
  return has_failed(call) ? inject(call) : complete(call, sys(call.number, call.args[0]));
}

}  // namespace reweave::core
