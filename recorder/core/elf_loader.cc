#include "recorder/core/elf_loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"
#include "recorder/core/random_instructions.h"

namespace reweave::core {

namespace {

constexpr int kMaxHeaders = 64;

struct Headers {
  Elf64_Ehdr file;
  Elf64_Phdr program[kMaxHeaders];
};

[[noreturn]] void unusable(const FileIdentity& file, const char* why) {
  Text text;
  text << file.path << ": " << why;
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

void read_headers(long fd, const FileIdentity& file, Headers& headers) {
  if (sys(SYS_pread64, fd, &headers.file, sizeof headers.file, 0) != sizeof headers.file)
    unusable(file, "cannot read its ELF header");
  const int n = headers.file.e_phnum;
  if (n > kMaxHeaders || headers.file.e_phentsize != sizeof(Elf64_Phdr)) unusable(file, "too many program headers");
  const long bytes = n * static_cast<long>(sizeof(Elf64_Phdr));
  if (sys(SYS_pread64, fd, headers.program, bytes, headers.file.e_phoff) != bytes)
    unusable(file, "cannot read its program headers");
}

std::uint32_t protection(const Elf64_Phdr& header) {
  return ((header.p_flags & PF_R) != 0 ? PROT_READ : 0u) | ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0u) |
         ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0u);
}

void map_zeros(std::uint64_t start, std::uint64_t end, std::uint32_t prot) {
  if (end <= start) return;
  const long result = sys(SYS_mmap, start, end - start, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (is_error(result)) bug("cannot map a program's zeros");
  add_region({start, end, prot, false, 0, 0, kNoFile});
}

// After the file's bytes the rest of their last page is zero: to the page's end, for the loader allocates there.
void map_segment(long fd, const FileIdentity& file, const Elf64_Phdr& header, std::uint64_t base) {
  const std::uint32_t prot = protection(header);
  const std::uint64_t start = page_down(base + header.p_vaddr);
  const std::uint64_t file_end = base + header.p_vaddr + header.p_filesz;
  const std::uint64_t memory_end = base + header.p_vaddr + header.p_memsz;
  const std::uint64_t mapped_end = page_up(file_end);
  if (header.p_filesz != 0) {
    const long result =
        sys(SYS_mmap, start, mapped_end - start, prot, MAP_PRIVATE | MAP_FIXED, fd, page_down(header.p_offset));
    if (is_error(result)) unusable(file, "cannot map a segment");
    Region region = {start, mapped_end, prot, false, 0, 0, kNoFile};
    region.of_file = true;
    add_region(region);
    trap_random_instructions(start, mapped_end);
    if ((prot & PROT_WRITE) != 0) memset(reinterpret_cast<void*>(file_end), 0, mapped_end - file_end);
    if (tracing() && (prot & PROT_EXEC) != 0) trace_module(file, start - page_down(header.p_offset), start, mapped_end);
  }
  map_zeros(header.p_filesz != 0 ? mapped_end : start, page_up(memory_end), prot);
}

}  // namespace

long check_image(const unsigned char* head, long bytes) {
  if (bytes >= 2 && head[0] == '#' && head[1] == '!') return 0;
  if (bytes < static_cast<long>(sizeof(Elf64_Ehdr)) || memcmp(head, ELFMAG, SELFMAG) != 0) return -ENOEXEC;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(head);
  if (head[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    stop_run(wire::OutcomeKind::kUnsupported, "the program is not a 64-bit x86 program; build it for x86-64");
  return header.e_type == ET_EXEC || header.e_type == ET_DYN ? 0 : -ENOEXEC;
}

void load_image(long fd, const FileIdentity& file, std::uint64_t pie_base, LoadedImage& image) {
  static Headers headers;
  read_headers(fd, file, headers);
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (int i = 0; i < headers.file.e_phnum; i++) {
    const Elf64_Phdr& header = headers.program[i];
    if (header.p_type != PT_LOAD) continue;
    if (page_down(header.p_vaddr) < low) low = page_down(header.p_vaddr);
    if (page_up(header.p_vaddr + header.p_memsz) > high) high = page_up(header.p_vaddr + header.p_memsz);
  }
  if (low >= high) unusable(file, "has nothing to load");
  const bool movable = headers.file.e_type == ET_DYN;
  image.base = !movable ? 0 : (pie_base != 0 ? pie_base : find_free(high - low)) - low;
  image.start = image.base + low;
  image.end = image.base + high;
  if (is_ours(image.start, high - low)) unusable(file, "is linked at addresses that Reweave uses");
  image.entry = image.base + headers.file.e_entry;
  image.header_count = headers.file.e_phnum;
  image.headers = 0;
  image.interpreter[0] = 0;
  image.executable_stack = false;
  for (int i = 0; i < headers.file.e_phnum; i++) {
    const Elf64_Phdr& header = headers.program[i];
    // Static programs have no PT_PHDR: the headers are where the segment that holds them is loaded.
    const std::uint64_t into_segment = headers.file.e_phoff - header.p_offset;
    if (header.p_type == PT_LOAD && image.headers == 0 && into_segment < header.p_filesz)
      image.headers = image.base + header.p_vaddr + into_segment;
    if (header.p_type == PT_PHDR) image.headers = image.base + header.p_vaddr;
    if (header.p_type == PT_LOAD) map_segment(fd, file, header, image.base);
    if (header.p_type == PT_GNU_STACK) image.executable_stack = (header.p_flags & PF_X) != 0;
    if (header.p_type == PT_INTERP && header.p_filesz < sizeof image.interpreter) {
      sys(SYS_pread64, fd, image.interpreter, header.p_filesz, header.p_offset);
      image.interpreter[header.p_filesz] = 0;
    }
  }
}

}  // namespace reweave::core
