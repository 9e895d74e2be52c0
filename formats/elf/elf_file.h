// Facts about an ELF file that recordings need.
//
// The file may be hostile: sizes are bounded and offsets checked. All functions expect a regular 64-bit ELF file; for
// anything else, or a file that is not open, they find nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/base/fd.h"

namespace reweave {

// The ELF build-id in hex, or empty.
std::string build_id_of(const Fd& file);

// True for a 64-bit ELF file with program headers.
bool is_elf(const Fd& file);

// The name by which other ELF files ask for a library (DT_SONAME); empty if it has none.
std::string soname_of(const Fd& file);

// Finds the load bias `base` (address = base + the file's virtual address) of an ELF file whose executable segment at
// file offset `offset` is mapped at `address`. False if there is no such segment.
bool find_load_base(const Fd& file, std::uint64_t offset, std::uint64_t address, std::uint64_t& base);

// Copies the file's contents at the virtual address `address` to `to`. Returns the number of bytes: at most to.size(),
// and no more than the segment has.
std::size_t read_at_address(const Fd& file, std::uint64_t address, std::span<std::uint8_t> to);

// Finds the end of the virtual addresses that a program occupies before relocation. `is_movable`: it may be loaded at
// any address. False if it is not a program.
bool find_program_bounds(const Fd& file, std::uint64_t& end, bool& is_movable);

}  // namespace reweave
