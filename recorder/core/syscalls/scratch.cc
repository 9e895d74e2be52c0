#include "recorder/core/syscalls/scratch.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"

namespace reweave::core {

namespace {

std::uint64_t place_of(const Thread& thread) { return kScratchBase + thread.id * kScratchBytes; }

}  // namespace

std::uint64_t scratch_of(Thread& me) {
  if (me.has_scratch != 0) return place_of(me);
  // MAP_GROWSDOWN counts as stack, which only RLIMIT_STACK limits; the program's RLIMIT_DATA may be lower.
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_GROWSDOWN;
  const long mapped = sys(SYS_mmap, place_of(me), kScratchBytes, PROT_READ | PROT_WRITE, kHow, -1, 0);
  if (is_error(mapped))
    stop_run(wire::OutcomeKind::kUnsupported, "no room for a thread's scratch memory; allow the process more memory");
  me.has_scratch = 1;
  return place_of(me);
}

void forget_scratch(Thread& me) {
  if (me.has_scratch != 0) sys(SYS_munmap, place_of(me), kScratchBytes);
  me.has_scratch = 0;
}

}  // namespace reweave::core
