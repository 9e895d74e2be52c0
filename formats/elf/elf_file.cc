#include "formats/elf/elf_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "formats/base/hex.h"
#include "formats/elf/elf_segments.h"

namespace reweave {
namespace {

// Notes are tens of bytes; a larger segment is ignored.
constexpr std::uint64_t kMaxNoteBytes = 64 * 1024;
constexpr std::uint64_t kMaxDynamicBytes = 64 * 1024;
constexpr std::size_t kMaxBuildIdBytes = 64;

// The build-id among the notes in `notes`, in hex.
std::string find_build_id(const std::vector<unsigned char>& notes) {
  std::size_t offset = 0;
  while (notes.size() - offset >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + offset, sizeof note);
    offset += sizeof note;
    const std::size_t name = (std::size_t{note.n_namesz} + 3) & ~std::size_t{3};
    const std::size_t description = (std::size_t{note.n_descsz} + 3) & ~std::size_t{3};
    if (name > notes.size() - offset || description > notes.size() - offset - name) break;
    const unsigned char* data = notes.data() + offset + name;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kMaxBuildIdBytes &&
        std::memcmp(notes.data() + offset, "GNU", 4) == 0)
      return hex_digits(data, note.n_descsz);
    offset += name + description;
  }
  return {};
}

// The file offset of a virtual address; 0 if the file does not contain it.
std::uint64_t offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return 0;
}

// The text at `offset`, if it ends within 256 bytes.
std::string text_at(int fd, std::uint64_t offset) {
  char text[256];
  const ssize_t got = ::pread(fd, text, sizeof text, static_cast<off_t>(offset));
  if (got <= 0) return {};
  const std::size_t length = strnlen(text, static_cast<std::size_t>(got));
  return length == static_cast<std::size_t>(got) ? std::string() : std::string(text, length);
}

std::string build_id_in(int fd) {
  for (const Elf64_Phdr& segment : segments_in(fd)) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!read_exactly(fd, segment.p_offset, notes.data(), notes.size())) continue;
    std::string found = find_build_id(notes);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string build_id_of(const Fd& file) { return file.valid() ? build_id_in(file.get()) : std::string(); }

bool is_elf(const Fd& file) { return file.valid() && !segments_in(file.get()).empty(); }

std::string soname_of(const Fd& file) {
  if (!file.valid()) return {};
  const std::vector<Elf64_Phdr> segments = segments_in(file.get());
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC || segment.p_filesz > kMaxDynamicBytes) continue;
    std::vector<Elf64_Dyn> entries(segment.p_filesz / sizeof(Elf64_Dyn));
    if (!read_exactly(file.get(), segment.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return {};
    std::uint64_t strings = 0, name = 0;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
    }
    if (name == 0) return {};
    return text_at(file.get(), offset_of(segments, strings) + name);
  }
  return {};
}

bool find_load_base(const Fd& file, std::uint64_t offset, std::uint64_t address, std::uint64_t& base) {
  constexpr std::uint64_t kPageMask = ~std::uint64_t{0xfff};
  if (!file.valid()) return false;
  for (const Elf64_Phdr& segment : segments_in(file.get())) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if ((segment.p_offset & kPageMask) != offset) continue;
    base = address - (segment.p_vaddr & kPageMask);
    return true;
  }
  return false;
}

std::size_t read_at_address(const Fd& file, std::uint64_t address, std::span<std::uint8_t> to) {
  if (!file.valid()) return 0;
  for (const Elf64_Phdr& segment : segments_in(file.get())) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
      continue;
    const std::uint64_t inside = address - segment.p_vaddr;
    const std::size_t bytes = std::min<std::uint64_t>(to.size(), segment.p_filesz - inside);
    const ssize_t got = ::pread(file.get(), to.data(), bytes, static_cast<off_t>(segment.p_offset + inside));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  return 0;
}

bool find_program_bounds(const Fd& file, std::uint64_t& end, bool& is_movable) {
  if (!file.valid()) return false;
  Elf64_Ehdr header;
  end = 0;
  for (const Elf64_Phdr& segment : segments_in(file.get(), header))
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
  is_movable = end != 0 && header.e_type != ET_EXEC;
  return end != 0;
}

}  // namespace reweave
