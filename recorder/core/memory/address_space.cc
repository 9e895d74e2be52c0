#include "recorder/core/memory/address_space.h"

#include <sys/mman.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/hash.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kExecutable = 4;  // PROT_EXEC

// The table has room on both sides: mappings are made from high addresses down, so most are inserted near its
// beginning.
Region places[2 * kMaxRegions];
RegionTable table = {0, places + kMaxRegions};
ProgramBreak heap;

// Each gap between regions above `floor` is smaller than `bytes`, so a search for that much can begin at `floor`.
// Searching all gaps again would get slower with each mapping. Unmapping may enlarge a gap.
struct SmallGaps {
  std::uint64_t floor;
  std::uint64_t bytes;
};
SmallGaps small_gaps = {kMmapTop, 0};

std::uint32_t slot;
std::uint64_t top_of_mmap() { return mmap_top(slot); }

// Makes room for one region at `index` by moving the shorter side.
void make_room(std::uint32_t index) {
  const bool lower =
      index < table.count / 2 ? table.items > places : table.items + table.count == places + 2 * kMaxRegions;
  if (lower) {
    memmove(table.items - 1, table.items, index * sizeof(Region));
    table.items--;
  } else {
    memmove(table.items + index + 1, table.items + index, (table.count - index) * sizeof(Region));
  }
  table.count++;
}

void take_out(std::uint32_t first, std::uint32_t last) {
  const std::uint32_t behind = table.count - last;
  if (first < behind) {
    memmove(table.items + (last - first), table.items, first * sizeof(Region));
    table.items += last - first;
  } else {
    memmove(table.items + first, table.items + last, behind * sizeof(Region));
  }
  table.count -= last - first;
}

// The gap below the region at `index` has grown.
void note_gap_at(std::uint32_t index) {
  const std::uint64_t next = index < table.count ? table.items[index].start : top_of_mmap();
  const std::uint64_t top = next < top_of_mmap() ? next : top_of_mmap(),
                      bottom = index == 0 ? 0 : table.items[index - 1].end;
  if (top > small_gaps.floor && top >= bottom + small_gaps.bytes) small_gaps.bytes = top - bottom + 1;
}

// Index of the first region that ends after `address`.
std::uint32_t first_after(std::uint64_t address) {
  std::uint32_t low = 0, high = table.count;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (table.items[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void insert_at(std::uint32_t index, const Region& region) {
  if (table.count == kMaxRegions) stop_run(wire::OutcomeKind::kUnsupported, "more than 262,144 memory mappings");
  make_room(index);
  table.items[index] = region;
}

// Makes `address` a boundary: the region that contains it becomes two.
void split_at(std::uint64_t address) {
  const std::uint32_t i = first_after(address);
  if (i == table.count || table.items[i].start >= address) return;
  Region right = table.items[i];
  right.object_offset += address - right.start;
  right.start = address;
  table.items[i].end = address;
  insert_at(i + 1, right);
}

bool mergeable(const Region& a, const Region& b) {
  return a.end == b.start && a.prot == b.prot && a.not_inherited == b.not_inherited && a.guarded == b.guarded &&
         a.of_file == b.of_file && !a.shared && !b.shared && a.file_end == kNoFile && b.file_end == kNoFile;
}

// Merges equal neighbours, so that the table stays as small as the kernel's.
void merge_around(std::uint32_t index) {
  for (std::uint32_t i = index > 0 ? index - 1 : 0; i + 1 < table.count && i <= index;) {
    if (!mergeable(table.items[i], table.items[i + 1])) {
      i++;
      continue;
    }
    table.items[i].end = table.items[i + 1].end;
    take_out(i + 1, i + 2);
  }
}

// Applies `set` to the regions in the range, then merges equal neighbours.
template <typename Set>
void change(std::uint64_t start, std::uint64_t end, Set set) {
  split_at(start);
  split_at(end);
  const std::uint32_t first = first_after(start);
  std::uint32_t i = first;
  for (; i < table.count && table.items[i].start < end; i++) set(table.items[i]);
  for (std::uint32_t j = i; j-- > first;) merge_around(j);
}

}  // namespace

RegionTable& regions() { return table; }
ProgramBreak& program_break() { return heap; }

std::uint32_t program_slot() { return slot; }

void set_program_slot(std::uint32_t to) {
  slot = to;
  small_gaps = {top_of_mmap(), 0};
}

std::uint64_t find_free(std::uint64_t bytes, std::uint64_t bottom, std::uint64_t top) {
  if (top == 0) top = top_of_mmap();
  const bool from_known = top == top_of_mmap() && bytes >= small_gaps.bytes;
  std::uint64_t ceiling = from_known ? small_gaps.floor : top;
  std::uint64_t more_than_seen = from_known ? small_gaps.bytes : 0;  // every gap above `ceiling` is smaller
  for (std::uint32_t i = first_after(ceiling - 1);; i--) {
    // Region i, if it exists, bounds the gap from above; region i - 1 from below.
    if (i < table.count && table.items[i].start < ceiling) ceiling = table.items[i].start;
    if (ceiling < bottom + bytes) return 0;
    const std::uint64_t floor = i == 0 || table.items[i - 1].end < bottom ? bottom : table.items[i - 1].end;
    if (floor < ceiling && ceiling - floor >= bytes && !is_ours(ceiling - bytes, bytes)) {
      if (top == top_of_mmap()) small_gaps = {ceiling, more_than_seen};
      return ceiling - bytes;
    }
    if (floor < ceiling && ceiling - floor >= more_than_seen) more_than_seen = ceiling - floor + 1;
    // The core's own memory is in the gap: try the room below it.
    const std::uint64_t below = ceiling < kCoreBase ? ceiling : kCoreBase;
    if (floor < below && below - floor >= bytes && !is_ours(below - bytes, bytes)) return below - bytes;
    if (i == 0) return 0;
  }
}

bool is_free(std::uint64_t start, std::uint64_t bytes) {
  const std::uint32_t i = first_after(start);
  return i == table.count || table.items[i].start >= start + bytes;
}

bool beyond_user_space(std::uint64_t start, std::uint64_t bytes) {
  return start + bytes < start || start + bytes > 0x7fff'ffff'f000;
}

bool is_ours(std::uint64_t start, std::uint64_t bytes) {
  const std::uint64_t end = start + bytes;
  for (const StubArea& area : stub_areas(slot).areas)
    if (start < area.start + area.bytes && end > area.start) return true;
  return beyond_user_space(start, bytes) || (start < kOursEnd && end > kCoreBase);
}

void add_region(const Region& region) {
  remove_region(region.start, region.end);
  const std::uint32_t i = first_after(region.start);
  insert_at(i, region);
  merge_around(i);
}

void remove_region(std::uint64_t start, std::uint64_t end) {
  split_at(start);
  split_at(end);
  const std::uint32_t first = first_after(start);
  std::uint32_t last = first;
  for (; last < table.count && table.items[last].start < end; last++)
    if ((table.items[last].prot & kExecutable) != 0) process().code_removals++;
  if (first == last) return;
  take_out(first, last);
  note_gap_at(first);
}

void protect_region(std::uint64_t start, std::uint64_t end, std::uint32_t prot) {
  change(start, end, [prot](Region& region) { region.prot = prot; });
}

void inherit_region(std::uint64_t start, std::uint64_t end, bool inherited) {
  change(start, end, [inherited](Region& region) { region.not_inherited = !inherited; });
}

void guard_region(std::uint64_t start, std::uint64_t end, bool guarded) {
  change(start, end, [guarded](Region& region) { region.guarded = guarded; });
}

void drop_not_inherited() {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < table.count; i++)
    if (!table.items[i].not_inherited) table.items[kept++] = table.items[i];
  table.count = kept;
  small_gaps = {top_of_mmap(), 0};
}

const Region* region_at(std::uint64_t address) {
  const std::uint32_t i = first_after(address);
  return i < table.count && table.items[i].start <= address ? &table.items[i] : nullptr;
}

namespace {

// Returns the number of bytes from `address` on, at most `bytes`, that are in memory with one of the rights `prot`.
std::uint64_t bytes_with(std::uint64_t address, std::uint64_t bytes, std::uint32_t prot) {
  std::uint64_t there = 0;
  while (there < bytes) {
    const Region* region = region_at(address + there);
    if (region == nullptr || (region->prot & prot) == 0) return there;
    const std::uint64_t end = region->guarded ? 0 : region->accessible_end();
    if (end <= address + there) return there;
    there = end - address;
  }
  return bytes;
}

}  // namespace

std::uint64_t bytes_there(std::uint64_t address, std::uint64_t bytes) {
  return bytes_with(address, bytes, PROT_READ | PROT_WRITE);
}

std::uint64_t bytes_writable(std::uint64_t address, std::uint64_t bytes) {
  return bytes_with(address, bytes, PROT_WRITE);
}

bool is_writable(std::uint64_t address) {
  const Region* region = region_at(address);
  return region != nullptr && (region->prot & PROT_WRITE) != 0;
}

std::uint64_t mapped_bytes() {
  constexpr std::uint64_t kStackInUse =
      132 << 10;  // the main stack is mapped in full from the start; count its initial size
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < table.count; i++)
    bytes += table.items[i].end == kStackTop ? kStackInUse : table.items[i].end - table.items[i].start;
  return bytes;
}

bool over_memory_limit(std::uint64_t more) {
  const std::uint64_t limit = process().memory_limit;
  return limit != 0 && mapped_bytes() + more > limit - 1;
}

std::uint64_t shared_key(const Region& region, std::uint64_t address) {
  return mix(region.shared_id, region.object_offset + (address - region.start)) | std::uint64_t{1} << 63;
}

std::uint64_t private_key(const Process& owner, std::uint64_t address) {
  return address | static_cast<std::uint64_t>(owner.memory_of) << 48;
}

std::uint64_t object_key(std::uint64_t address) {
  const Region* region = region_at(address);
  if (region != nullptr && region->shared) return shared_key(*region, address);
  return private_key(process(), address);
}

}  // namespace reweave::core
