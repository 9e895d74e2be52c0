// What an ELF file says of itself, as far as recordings need it.
//
// The bytes may be a stranger's: sizes are bounded, offsets checked. All functions read a regular file of 64-bit ELF;
// one that is another, or is not open, has nothing of what they look for.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "formats/fd.h"

namespace reweave {

// The ELF build-id in hex, or empty.
std::string build_id_of(const Fd& file);

// True for a 64-bit ELF file with program headers.
bool is_elf(const Fd& file);

// The name by which other ELF files ask for a library (DT_SONAME); empty if it has none or is none.
std::string soname_of(const Fd& file);

// For an ELF file of which the executable segment at file offset `offset` is mapped at `address`: sets `base`
// (address = base + the file's virtual address). False if it is none.
bool find_load_base(const Fd& file, std::uint64_t offset, std::uint64_t address, std::uint64_t& base);

// Copies what the file has at the virtual address `address` to `to`; the bytes there are in its segment, at most
// to.size().
std::size_t read_at_address(const Fd& file, std::uint64_t address, std::span<std::uint8_t> to);

// The virtual addresses that a program takes up, if it is not moved: from 0 to `end`. `is_movable`: it may be loaded
// anywhere. False if it is none.
bool find_program_bounds(const Fd& file, std::uint64_t& end, bool& is_movable);

}  // namespace reweave
