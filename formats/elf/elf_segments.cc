#include "formats/elf/elf_segments.h"

#include <unistd.h>

#include <cstring>

namespace reweave {
namespace {

constexpr std::size_t kMaxProgramHeaders = 1024;

}  // namespace

bool read_exactly(int fd, std::uint64_t offset, void* into, std::size_t bytes) {
  return ::pread(fd, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::vector<Elf64_Phdr> segments_in(int fd, Elf64_Ehdr& header) {
  if (!read_exactly(fd, 0, &header, sizeof header)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxProgramHeaders) return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_exactly(fd, header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return {};
  return segments;
}

std::vector<Elf64_Phdr> segments_in(int fd) {
  Elf64_Ehdr header;
  return segments_in(fd, header);
}

}  // namespace reweave
