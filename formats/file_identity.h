// Who a file is: ELF build-id, or hash of the content; and keeping content under its hash.
#pragma once

#include <cstdint>
#include <string>

#include "formats/manifest.h"

namespace reweave {

// Identity of the file at `path` as it is now: the build-id if it is an ELF file that has one, else the content's
// hash. `stored_name` is left empty. Throws SystemError if it cannot be read.
MappedFile identify_file(const std::string& path);

// Why the file at `wanted.path` is not the one recorded; empty if it is. Times and inodes may differ: what counts is
// the build-id or the content.
std::string explain_difference(const MappedFile& wanted);

// The ELF build-id in hex, or empty (also if `path` cannot be read).
std::string build_id_of(const std::string& path);

// True if `path` is a 64-bit ELF file.
bool is_elf(const std::string& path);

// The name by which other ELF files ask for a library (DT_SONAME); empty if it has none or is none.
std::string soname_of(const std::string& path);

// For an ELF file of which the executable segment at file offset `offset` is mapped at `address`: sets `base`
// (address = base + the file's virtual address). False if it is none.
bool find_load_base(const std::string& path, std::uint64_t offset, std::uint64_t address, std::uint64_t& base);

// xxh3-64 of the content as 16 hex digits. Throws SystemError.
std::string content_hash_of(const std::string& path);

// Copies `source` to `folder`/<content hash> unless it is there; returns the hash.
std::string store_content(const std::string& source, const std::string& folder);

}  // namespace reweave
