// The program headers of an ELF file, for code that reads its tables. The file may be hostile.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reweave {

// True if all bytes were read.
bool read_exactly(int fd, std::uint64_t offset, void* into, std::size_t bytes);

// The header and the program headers of a 64-bit ELF file; none if it is something else.
std::vector<Elf64_Phdr> segments_in(int fd, Elf64_Ehdr& header);
std::vector<Elf64_Phdr> segments_in(int fd);

}  // namespace reweave
