// Accesses that no instrumented code announces: those of the C library on behalf of its caller.
#pragma once

#include "recorder/shim/tsan/access.h"

namespace reweave::shim {

// True if the run reports accesses or checks them.
inline bool accesses_wanted() { return tracing() || config().detect_now != 0; }

// Passes the only schedule point of a library call that makes accesses. Goes before the call.
[[gnu::always_inline]] inline void known_point(const void* place, std::uint32_t bytes, bool write, std::uint64_t pc) {
  if (config().detect_memory_errors != 0 && is_quiet(pc))
    quiet_point(OpKind::kAccess, place, pc, bytes, write ? 1 : 0);
  else
    point(OpKind::kAccess, place, pc, bytes, write ? 1 : 0);
}

// False for addresses that the kernel would reject. Accesses to them are not reported; they are the program's own
// problem.
inline bool may_be_memory(std::uint64_t place, std::uint64_t bytes) {
  constexpr std::uint64_t kLowest = 4096, kEnd = std::uint64_t{1} << 47;
  return place >= kLowest && place < kEnd && bytes <= kEnd - place;
}

// Does for an access that belongs to the preceding point what range_event does. It is inlined into code that must not
// change vector registers.
[[gnu::always_inline]] inline void known_access(EventKind kind, std::uint64_t place, std::uint64_t bytes,
                                                std::uint64_t pc, bool again, std::uint8_t marks = 0) {
  if (bytes == 0 || !may_be_memory(place, bytes)) return;
  if (config().detect_now != 0) check_heap(place, bytes, pc);
  note(kind, reinterpret_cast<const void*>(place), pc, static_cast<std::uint8_t>((again ? kSamePoint : 0) | marks),
       bytes);
}

}  // namespace reweave::shim
