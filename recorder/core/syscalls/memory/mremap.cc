// Mappings that are moved, enlarged, or made to show another part of their file.
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/file_contents.h"
#include "recorder/core/syscalls/files/stand_in.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/memory/memory_calls.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

struct Move {
  std::uint64_t from, old_bytes, to, new_bytes, flags;
  bool duplicates() const { return old_bytes == 0; }
  bool leaves_old() const { return duplicates() || (flags & MREMAP_DONTUNMAP) != 0; }
};

// Errors that depend on the arguments alone (mremap(2)).
bool valid_move(const Move& move) {
  constexpr std::uint64_t kKnown = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  if ((move.flags & ~kKnown) != 0 || move.from % kPage != 0 || move.new_bytes == 0) return false;
  if (beyond_user_space(0, move.new_bytes)) return false;
  if ((move.flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 && (move.flags & MREMAP_MAYMOVE) == 0) return false;
  if ((move.flags & MREMAP_DONTUNMAP) != 0 && move.old_bytes != move.new_bytes) return false;
  if ((move.flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) == 0) return true;
  if (beyond_user_space(move.to, move.new_bytes)) return false;
  const bool apart = move.to + move.new_bytes <= move.from || move.from + move.old_bytes <= move.to;
  return move.to % kPage == 0 && apart;
}

// Chooses the target address and stores it in `move.to`. Returns 0 or an error.
long choose_target(Move& move) {
  if ((move.flags & MREMAP_FIXED) != 0) return is_ours(move.to, move.new_bytes) ? -ENOMEM : 0;
  const std::uint64_t wish = (move.flags & MREMAP_DONTUNMAP) != 0 ? move.to : 0;
  move.to = move.from;
  const std::uint64_t more = move.new_bytes > move.old_bytes ? move.new_bytes - move.old_bytes : 0;
  if (over_memory_limit(more)) return -ENOMEM;
  const std::uint64_t behind = move.from + move.old_bytes;
  if (!move.leaves_old() && (more == 0 || (is_free(behind, more) && !is_ours(behind, more)))) return 0;
  if ((move.flags & MREMAP_MAYMOVE) == 0) return -ENOMEM;
  const bool can_have = wish != 0 && !is_ours(wish, move.new_bytes) && is_free(wish, move.new_bytes);
  move.to = can_have ? wish : find_free(move.new_bytes);
  return move.to == 0 ? -ENOMEM : 0;
}

// In a replay, the part of a private mapping after its file's end may be a mapping of its own (map_nothing), because
// the file's replacement continues there.
long move_private(const Move& move, const Region& region) {
  const std::uint64_t behind = region.file_end > move.from ? region.file_end - move.from : 0;
  const std::uint64_t before = move.old_bytes < behind ? move.old_bytes : behind;
  const std::uint64_t after = move.new_bytes < behind ? move.new_bytes : behind;
  if (!move.leaves_old() && before < move.old_bytes) sys(SYS_munmap, move.from + before, move.old_bytes - before);
  long result = static_cast<long>(move.to);
  if (before != 0 && move.to == move.from) result = sys(SYS_mremap, move.from, before, after, 0, 0);
  if (before != 0 && move.to != move.from)
    result = sys(SYS_mremap, move.from, before, after, (move.flags & MREMAP_DONTUNMAP) | MREMAP_MAYMOVE | MREMAP_FIXED,
                 move.to);
  if (!is_error(result) && after < move.new_bytes)
    map_nothing(move.to + after, move.new_bytes - after, region.prot, MAP_PRIVATE | MAP_FIXED);
  return result;
}

// True if the kernel sees several mappings where the table has one, for example because a part is locked. The kernel
// moves several mappings only with MREMAP_FIXED (since Linux 6.17), which carry_out adds although the program did not.
// Only growing shows the difference, so one page is added and removed.
bool is_several_to_kernel(const Move& move) {
  const long grown = sys(SYS_mremap, move.from, move.old_bytes, move.old_bytes + kPage, 0, 0);
  if (!is_error(grown)) sys(SYS_mremap, move.from, move.old_bytes + kPage, move.old_bytes, 0, 0);
  return grown == -EFAULT;
}

long carry_out(const Move& move, const Region& region) {
  const bool is_live = live();
  const bool adds_fixed = (move.flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) == MREMAP_DONTUNMAP;
  if (is_live && adds_fixed && is_several_to_kernel(move)) return -EFAULT;
  if (!is_live && region.stand_in != 0 && region.shared) {
    if (!move.leaves_old()) sys(SYS_munmap, move.from, move.old_bytes);
    remap_stand_in(region.stand_in, move.to, move.new_bytes, region.prot,
                   region.object_offset + (move.from - region.start));
    return static_cast<long>(move.to);
  }
  if (!is_live && !region.shared && region.file_end != kNoFile) return move_private(move, region);
  if (move.to == move.from) return sys(SYS_mremap, move.from, move.old_bytes, move.new_bytes, 0, 0);
  return sys(SYS_mremap, move.from, move.old_bytes, move.new_bytes,
             (move.flags & MREMAP_DONTUNMAP) | MREMAP_MAYMOVE | MREMAP_FIXED, move.to);
}

// `region` now shows more of a file that may change, from `start` on: its contents are logged as when the file was
// mapped.
void show_more(const Region& region, std::uint64_t start) {
  if (region.stand_in == 0 || start >= region.end || modelled()) return;
  const std::uint64_t offset = region.object_offset + (start - region.start);
  if (replaying()) return fill_stand_in(region.stand_in, offset, region.end - start);
  const bool readable = (region.prot & PROT_READ) != 0 && region.accessible_end() > start;
  log_memory(start, readable ? region.accessible_end() - start : 0, offset);
}

void fit_to_file(Region& region) {
  if (region.file_end == kNoFile || region.stand_in == 0) return;
  const std::uint64_t size = state().stand_in_sizes[region.stand_in - 1];
  region.file_end = region.start + (size > region.object_offset ? page_up(size - region.object_offset) : 0);
}

// Updates the table after `region` was moved.
void note_moved(const Move& move, Region region) {
  if (!move.leaves_old()) remove_region(move.from, move.from + move.old_bytes);
  region.object_offset += move.from - region.start;
  if (region.file_end != kNoFile) region.file_end = region.file_end - move.from + move.to;
  region.start = move.to;
  region.end = move.to + move.new_bytes;
  fit_to_file(region);
  add_region(region);
  show_more(region, move.to + move.old_bytes);
}

// Returns the part of the move that concerns the first mapping that ends after `at`; empty if there is none.
Move first_part(const Move& move, std::uint64_t at) {
  const RegionTable& table = regions();
  const std::uint64_t end = move.from + move.old_bytes;
  for (std::uint32_t i = 0; i < table.count && table.items[i].start < end; i++) {
    const Region& region = table.items[i];
    if (region.end <= at) continue;
    const std::uint64_t from = region.start > at ? region.start : at, to = region.end < end ? region.end : end;
    return {from, to - from, move.to + (from - move.from), to - from, move.flags};
  }
  return {end, 0, 0, 0, move.flags};
}

// Since Linux 6.17, a move without a change of size may cover several mappings, with holes between them.
long move_several(const Move& move) {
  long result = static_cast<long>(move.to);
  if (!replaying()) result = sys(SYS_mremap, move.from, move.old_bytes, move.new_bytes, move.flags, move.to);
  for (std::uint64_t at = move.from; !is_error(result);) {
    const Move part = first_part(move, at);
    if (part.old_bytes == 0) break;
    const Region region = *region_at(part.from);
    if (replaying() && is_error(carry_out(part, region))) bug("cannot move a mapping");
    note_moved(part, region);
    at = part.from + part.old_bytes;
  }
  return result;
}

bool is_of_several(const Move& move, const Region& region) {
  const bool only_moves = (move.flags & MREMAP_FIXED) != 0 && move.old_bytes == move.new_bytes;
  return only_moves && !move.duplicates() && move.from + move.old_bytes > region.end;
}

// True if the range only shrinks. What remains of it then keeps all its mappings and holes.
bool only_shrinks(const Move& move) {
  constexpr std::uint64_t kMoves = MREMAP_FIXED | MREMAP_DONTUNMAP;
  return (move.flags & kMoves) == 0 && !move.duplicates() && move.new_bytes <= move.old_bytes;
}

long shrink(const Move& move) {
  const std::uint64_t start = move.from + move.new_bytes, bytes = move.old_bytes - move.new_bytes;
  if (bytes == 0) return static_cast<long>(move.from);
  const long result = sys(SYS_munmap, start, bytes);
  if (is_error(result)) return result;
  remove_region(start, start + bytes);
  return static_cast<long>(move.from);
}

// Returns the error for memory that cannot grow in place. The kernel may have another reason than lack of room.
long why_not(const Move& move, long error) {
  if (!live() || error != -ENOMEM || (move.flags & MREMAP_MAYMOVE) != 0) return error;
  const long result = sys(SYS_mremap, move.from, move.old_bytes, move.new_bytes, 0, 0);
  if (is_error(result)) return result;
  sys(SYS_mremap, move.from, move.new_bytes, move.old_bytes, 0, 0);  // it grew into memory of the core
  return error;
}

}  // namespace

long handle_mremap(Call& call) {
  Move move = {static_cast<std::uint64_t>(call.args[0]), page_up(static_cast<std::uint64_t>(call.args[1])),
               static_cast<std::uint64_t>(call.args[4]), page_up(static_cast<std::uint64_t>(call.args[2])),
               static_cast<std::uint64_t>(call.args[3])};
  if ((move.flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) == 0) use_arguments(call, 4);
  if (!valid_move(move)) return complete(call, -EINVAL);
  const Region* found = region_at(move.from);
  if (found == nullptr) return complete(call, -EFAULT);
  const Region region = *found;
  if (has_failed(call)) return inject(call);
  if (only_shrinks(move)) {
    if (is_ours(move.from, move.old_bytes)) return refused_range(call, "unmap");
    return complete(call, shrink(move));
  }
  if (move.duplicates() && !region.shared) return complete(call, -EINVAL);
  const long error = choose_target(move);
  if (error != 0) return complete(call, why_not(move, error));
  if ((region.prot & PROT_EXEC) != 0 || is_of_several(move, region))
    remove_patches(move.from, move.from + move.old_bytes);
  if (is_of_several(move, region)) return complete(call, move_several(move));
  const long result = carry_out(move, region);
  if (!is_error(result)) note_moved(move, region);
  return complete(call, result);
}

// Since Linux 4.0, this call maps the wanted part of the file over the old mapping (remap_file_pages(2)).
long handle_remap_file_pages(Call& call) {
  const std::uint64_t start = page_down(static_cast<std::uint64_t>(call.args[0]));
  const std::uint64_t bytes = page_down(static_cast<std::uint64_t>(call.args[1]));
  const Region* found = region_at(start);
  const bool possible = found != nullptr && found->shared && start + bytes > start && start + bytes <= found->end;
  if (call.args[2] != 0 || !possible) return complete(call, -EINVAL);
  Region region = *found;
  region.object_offset = static_cast<std::uint64_t>(call.args[3]) * kPage;
  region.start = start;
  region.end = start + bytes;
  fit_to_file(region);
  long result = 0;
  if (!live() && region.stand_in != 0)
    remap_stand_in(region.stand_in, start, bytes, region.prot, region.object_offset);
  else
    result = sys(SYS_remap_file_pages, start, bytes, 0, call.args[3], call.args[4]);
  if (!is_error(result)) {
    add_region(region);
    show_more(region, start);
  }
  return complete(call, result);
}

}  // namespace reweave::core
