// madvise. Advice that affects memory contents or a later fork is given in every mode. Other advice is not repeated,
// because a replay may have another kernel or less memory.
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/memory/process_memory.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr long kCold = 20, kDontNeedLocked = 24, kPoison = 100, kTakeOffline = 101, kGuard = 102, kNoGuard = 103;

constexpr long kWithEffect[] = {MADV_DONTNEED,   MADV_REMOVE,     MADV_DONTFORK, MADV_DOFORK, MADV_WIPEONFORK,
                                MADV_KEEPONFORK, kDontNeedLocked, kGuard,        kNoGuard};

bool has_effect(long advice) {
  for (const long known : kWithEffect)
    if (advice == known) return true;
  return false;
}

// MADV_FREE requires private anonymous memory (madvise(2)).
bool can_be_freed(std::uint64_t start, std::uint64_t end) {
  while (start < end) {
    const Region* region = region_at(start);
    if (region == nullptr) return true;  // the kernel reports the hole
    if (region->shared || region->file_end != kNoFile) return false;
    start = region->end;
  }
  return true;
}

bool wiped_on_fork;  // the program has used MADV_WIPEONFORK

}  // namespace

bool forks_differ() { return wiped_on_fork; }

// MADV_FREE lets the kernel take the pages at any time, which would be an input that cannot be observed. MADV_COLD is
// given instead: the pages keep their contents.
long repeatable_advice(long advice) { return advice == MADV_FREE ? kCold : advice; }

void note_advice(std::uint64_t start, std::uint64_t bytes, long advice) {
  if (advice == MADV_WIPEONFORK) wiped_on_fork = true;
  if (advice == MADV_DONTFORK || advice == MADV_DOFORK)
    inherit_region(start, page_up(start + bytes), advice == MADV_DOFORK);
  if (advice == kGuard || advice == kNoGuard) guard_region(start, page_up(start + bytes), advice == kGuard);
}

void repeat_advice(std::uint64_t start, std::uint64_t end, long advice) {
  if (end <= start) return;
  sys(SYS_madvise, start, end - start, repeatable_advice(advice));
  note_advice(start, end - start, advice);
}

namespace {

// Replay on a kernel without guards (Linux before 6.13): inaccessible memory is nearly the same. If the program then
// changes the protection of that memory, it becomes accessible, which is a divergence.
long guard_by_protection(std::uint64_t start, std::uint64_t end, bool guarded) {
  if (guarded) {
    sys(SYS_madvise, start, end - start, MADV_DONTNEED);
    return sys(SYS_mprotect, start, end - start, PROT_NONE);
  }
  while (start < end) {
    const Region* region = region_at(start);
    if (region == nullptr) return -ENOMEM;
    const std::uint64_t part_end = region->end < end ? region->end : end;
    if (region->guarded) sys(SYS_mprotect, start, part_end - start, region->prot);
    start = part_end;
  }
  return 0;
}

// True if the advice failed, except for a hole (ENOMEM), after which the kernel continues.
bool ends_early(long result) { return is_error(result) && result != -ENOMEM; }

// Returns the address at which failed advice stopped. Locked memory rejects it, but mappings before that may have lost
// their pages.
std::uint64_t advised_to(std::uint64_t start, std::uint64_t bytes, long advice) {
  if (start % kPage != 0 || !has_effect(advice)) return start;
  return reached_before_failure(start, page_up(start + bytes), [start, advice](std::uint64_t part) {
    return !ends_early(sys(SYS_madvise, start, part, advice));
  });
}

long advise(Call& call, std::uint64_t start, std::uint64_t bytes) {
  const long advice = call.args[2];
  long recorded = 0;
  std::uint64_t reached = start;
  const bool known = next_result(call, recorded);
  if (stopped_at(call, reached)) {
    repeat_advice(start, reached, advice);
    return inject(call);
  }
  if (known && ends_early(recorded)) return inject(call);
  long result = sys(SYS_madvise, start, bytes, repeatable_advice(advice));
  if (result == -EINVAL && known && recorded == 0 && (advice == kGuard || advice == kNoGuard))
    result = guard_by_protection(start, page_up(start + bytes), advice == kGuard);
  if (!replaying() && ends_early(result)) {
    reached = advised_to(start, bytes, advice);
    note_advice(start, reached - start, advice);
    return log_stopped(call, result, reached);
  }
  const bool as_recorded = known && (recorded != 0 || !has_effect(advice));
  if (result == 0 || as_recorded) note_advice(start, bytes, advice);
  return as_recorded ? inject(call) : complete(call, result);
}

}  // namespace

long handle_madvise(Call& call) {
  const auto start = static_cast<std::uint64_t>(call.args[0]);
  const auto bytes = static_cast<std::uint64_t>(call.args[1]);
  const long advice = call.args[2];
  // These concern the machine's memory, and need privileges.
  if (advice == kPoison || advice == kTakeOffline) return complete(call, -EPERM);
  if (beyond_user_space(start, bytes)) return complete(call, -EINVAL);
  if (bytes != 0 && is_ours(start, bytes)) return refused_range(call, "advise on");
  if (advice == MADV_FREE && start % kPage == 0 && !can_be_freed(start, page_up(start + bytes)))
    return complete(call, -EINVAL);
  return advise(call, start, bytes);
}

}  // namespace reweave::core
