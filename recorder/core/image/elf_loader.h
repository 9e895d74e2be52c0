// Maps one ELF file as the kernel's loader does.
#pragma once

#include "recorder/core/syscalls/files/map_file.h"
#include "recorder/elf_symbols.h"

namespace reweave::core {

struct LoadedImage {
  std::uint64_t base;  // load bias
  std::uint64_t start, end;
  std::uint64_t entry;
  std::uint64_t headers;  // address of the program headers
  std::uint64_t header_count;
  char interpreter[4096];  // empty if there is none
  bool executable_stack;   // a program that asks for one
};

// The dynamic section of an image in memory; null if it has none, or if its headers are not in memory.
const Elf64_Dyn* dynamic_section(const LoadedImage& image);

// Maps the ELF file open at `fd`. A position-independent file goes to `pie_base`, or high in memory if that is 0.
// False: the kernel would not load the file.
bool load_image(long fd, const FileIdentity& file, std::uint64_t pie_base, LoadedImage& image);

}  // namespace reweave::core
