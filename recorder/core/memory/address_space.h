// The target's address space as the core lays it out. The core chooses the place of every mapping, so that it is the
// same in every mode and on every machine. Private to a process; a fork copies it.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

inline constexpr std::uint64_t kNoFile = ~std::uint64_t{0};

struct Region {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t prot;
  bool shared;
  std::uint64_t shared_id;      // shared mappings: identifies the object across the tree's processes, else 0
  std::uint64_t object_offset;  // shared mappings: offset of `start` in that object
  std::uint64_t file_end;       // first address past the end of the file (SIGBUS), or kNoFile
  std::uint32_t stand_in = 0;   // number + 1 of the changeable file that it maps (syscalls/stand_in.h), else 0
  bool read_only = false;       // maps a file that is not open for writing
  bool not_inherited = false;   // MADV_DONTFORK
  bool guarded = false;         // MADV_GUARD_INSTALL: any access faults
  bool of_file = false;         // contents come from a file, even if the memory is private
  std::uint64_t accessible_end() const { return file_end >= end ? end : file_end > start ? file_end : start; }
};

inline constexpr std::uint32_t kMaxRegions = 262'144;
// The number of mappings a program can make, if the kernel's own limit is not lower, which it is by default
// (vm.max_map_count, 65,530). The rest is for mappings that get split.
inline constexpr std::uint32_t kMostMapped = kMaxRegions - 65'536;
struct RegionTable {
  std::uint32_t count;
  Region* items;  // sorted by start, disjoint
};

RegionTable& regions();

inline constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t page_down(std::uint64_t x) { return x & ~(kPage - 1); }
constexpr std::uint64_t page_up(std::uint64_t x) { return page_down(x + kPage - 1); }

// The slot of the program in this address space (kProgramSlots).
std::uint32_t program_slot();
// To be called before the program is loaded.
void set_program_slot(std::uint32_t slot);

// The highest free range of `bytes` below `top` and not below `bottom`; 0 if there is none. `top` 0: where mmap without
// an address begins to look.
std::uint64_t find_free(std::uint64_t bytes, std::uint64_t bottom = 0x10000, std::uint64_t top = 0);
bool is_free(std::uint64_t start, std::uint64_t bytes);
// True if the range overlaps the core's own memory or is not entirely in user space.
bool is_ours(std::uint64_t start, std::uint64_t bytes);
// True if the range is not entirely in user space.
bool beyond_user_space(std::uint64_t start, std::uint64_t bytes);

void add_region(const Region& region);  // replaces what was there
void remove_region(std::uint64_t start, std::uint64_t end);
void protect_region(std::uint64_t start, std::uint64_t end, std::uint32_t prot);
void inherit_region(std::uint64_t start, std::uint64_t end, bool inherited);
void guard_region(std::uint64_t start, std::uint64_t end, bool guarded);
// In a new process: forgets the regions that it did not inherit.
void drop_not_inherited();
const Region* region_at(std::uint64_t address);
// Returns the number of bytes from `address` on, at most `bytes`, that can be accessed without a fault.
std::uint64_t bytes_there(std::uint64_t address, std::uint64_t bytes);
// The same for bytes that can be written.
std::uint64_t bytes_writable(std::uint64_t address, std::uint64_t bytes);
bool is_writable(std::uint64_t address);
// Bytes of all regions.
std::uint64_t mapped_bytes();
// True if `more` bytes would exceed RLIMIT_AS, which the core enforces instead of the kernel (syscalls/attributes.cc).
bool over_memory_limit(std::uint64_t more);

// A key for the memory word at `address` of a shared mapping.
std::uint64_t shared_key(const Region& region, std::uint64_t address);
// A key for the memory word at `address` of the private memory of `owner`.
std::uint64_t private_key(const Process& owner, std::uint64_t address);
// A key for the memory word at `address`, equal in all processes that can see it.
std::uint64_t object_key(std::uint64_t address);

// The heap that brk(2) grows; the loader sets its start.
struct ProgramBreak {
  std::uint64_t start;
  std::uint64_t end;
};
ProgramBreak& program_break();

}  // namespace reweave::core
