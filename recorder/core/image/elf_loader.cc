#include "recorder/core/image/elf_loader.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/image/elf_headers.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/processor/mapped_code.h"

namespace reweave::core {

namespace {

[[noreturn]] void unusable(const FileIdentity& file, const char* why) {
  Text text;
  text << file.path << ": " << why;
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

std::uint32_t protection(const Elf64_Phdr& header) {
  return ((header.p_flags & PF_R) != 0 ? PROT_READ : 0u) | ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0u) |
         ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0u);
}

bool map_zeros(std::uint64_t start, std::uint64_t end, std::uint32_t prot) {
  if (end <= start) return true;
  const long result = sys(SYS_mmap, start, end - start, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (is_error(result)) return false;
  add_region({start, end, prot, false, 0, 0, kNoFile});
  return true;
}

// The rest of the last page after the file's bytes is zeroed up to the end of the page, because the loader allocates
// there.
bool map_segment(long fd, const FileIdentity& file, const Elf64_Phdr& header, std::uint64_t base) {
  const std::uint32_t prot = protection(header);
  const std::uint64_t start = page_down(base + header.p_vaddr);
  const std::uint64_t file_end = base + header.p_vaddr + header.p_filesz;
  const std::uint64_t memory_end = base + header.p_vaddr + header.p_memsz;
  const std::uint64_t mapped_end = page_up(file_end);
  if (header.p_filesz != 0) {
    const long result =
        sys(SYS_mmap, start, mapped_end - start, prot, MAP_PRIVATE | MAP_FIXED, fd, page_down(header.p_offset));
    if (is_error(result)) return false;
    Region region = {start, mapped_end, prot, false, 0, 0, kNoFile};
    region.of_file = true;
    // Pages beyond the end of a truncated file raise SIGBUS when touched, so the core must not touch them.
    const std::uint64_t offset = page_down(header.p_offset), behind = page_up(file.size);
    const bool whole = offset + (mapped_end - start) <= behind;
    if (!whole) region.file_end = start + (behind > offset ? behind - offset : 0);
    add_region(region);
    take_mapped_code(start, region.accessible_end(), MappedBy::kLoader, file, offset);
    if ((prot & PROT_WRITE) != 0 && !whole && header.p_memsz > header.p_filesz) return false;
    if ((prot & PROT_WRITE) != 0 && whole) memset(reinterpret_cast<void*>(file_end), 0, mapped_end - file_end);
    if (tracing() && (prot & PROT_EXEC) != 0) trace_module(file, start - page_down(header.p_offset), start, mapped_end);
  }
  return map_zeros(header.p_filesz != 0 ? mapped_end : start, page_up(memory_end), prot);
}

}  // namespace

const Elf64_Dyn* dynamic_section(const LoadedImage& image) {
  const auto* headers = reinterpret_cast<const Elf64_Phdr*>(image.headers);
  const std::uint64_t bytes = image.header_count * sizeof *headers;
  if (bytes_there(image.headers, bytes) != bytes) return nullptr;
  return reweave::dynamic_section(headers, image.header_count, image.base);
}

bool load_image(long fd, const FileIdentity& file, std::uint64_t pie_base, LoadedImage& image) {
  static Headers64 headers;
  if (!read_headers(fd, headers) || !is_loadable(headers)) return false;
  bool interpreted = false;
  if (read_interpreter(fd, headers, interpreted, image.interpreter) != 0) return false;
  if (!interpreted) image.interpreter[0] = 0;
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (int i = 0; i < headers.file.e_phnum; i++) {
    const Elf64_Phdr& header = headers.program[i];
    if (header.p_type != PT_LOAD) continue;
    if (page_down(header.p_vaddr) < low) low = page_down(header.p_vaddr);
    if (page_up(header.p_vaddr + header.p_memsz) > high) high = page_up(header.p_vaddr + header.p_memsz);
  }
  const bool movable = headers.file.e_type == ET_DYN;
  image.base = !movable ? 0 : (pie_base != 0 ? pie_base : find_free(high - low)) - low;
  image.start = image.base + low;
  image.end = image.base + high;
  if (is_ours(image.start, high - low))
    unusable(file, "is linked at addresses that Reweave uses; link it as a position-independent executable (-pie)");
  image.entry = image.base + headers.file.e_entry;
  image.header_count = headers.file.e_phnum;
  image.headers = 0;
  image.executable_stack = false;
  for (int i = 0; i < headers.file.e_phnum; i++) {
    const Elf64_Phdr& header = headers.program[i];
    // Static programs have no PT_PHDR: their headers are in the segment that contains e_phoff.
    const std::uint64_t into_segment = headers.file.e_phoff - header.p_offset;
    if (header.p_type == PT_LOAD && image.headers == 0 && into_segment < header.p_filesz)
      image.headers = image.base + header.p_vaddr + into_segment;
    if (header.p_type == PT_PHDR) image.headers = image.base + header.p_vaddr;
    if (header.p_type == PT_LOAD && !map_segment(fd, file, header, image.base)) return false;
    if (header.p_type == PT_GNU_STACK) image.executable_stack = (header.p_flags & PF_X) != 0;
  }
  return true;
}

}  // namespace reweave::core
