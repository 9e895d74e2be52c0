#include "formats/elf/elf_code.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "formats/elf/elf_file.h"
#include "formats/elf/elf_segments.h"

namespace reweave {
namespace {

constexpr std::size_t kMaxSections = 4096;
constexpr std::uint64_t kMaxTableBytes = 64 << 20, kMaxCommentBytes = 64 * 1024;
constexpr std::size_t kMaxNameBytes = 4096;

std::string_view text_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  const std::string_view rest = names.substr(offset, kMaxNameBytes);
  const std::size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

// True for the names of functions that make the unwinder stop at a function and run its code.
bool is_personality(std::string_view name) {
  return name.find("personality") != name.npos || name.starts_with("_Unwind_") || name.starts_with("DW.ref.");
}

}  // namespace

struct ElfCode::SymbolTable {
  std::vector<Elf64_Sym> symbols;
  std::string names;
  std::size_t section = 0;
};

template <typename Test>
bool ElfCode::names_any(const SymbolTable& table, Test test) {
  return std::any_of(table.symbols.begin(), table.symbols.end(),
                     [&](const Elf64_Sym& symbol) { return test(text_at(table.names, symbol.st_name)); });
}

ElfCode::ElfCode(Fd file) : file_(std::move(file)) {
  struct stat status {};
  if (!file_.valid() || ::fstat(file_.get(), &status) != 0) return;
  file_bytes_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  Elf64_Ehdr header;
  if (!take_segments(segments_in(file_.get(), header)) || header.e_machine != EM_X86_64) return;
  const std::vector<Elf64_Shdr> sections = read_sections(header);
  const SymbolTable dynamic = read_symbols(sections, SHT_DYNSYM), all = read_symbols(sections, SHT_SYMTAB);
  read_functions(all.symbols.empty() ? dynamic : all);
  read_slots(sections, dynamic);
  unwinds_ = functions_.empty() || names_any(dynamic, is_personality) || names_any(all, is_personality);
  const auto announces = [](std::string_view name) { return name.starts_with("__tsan_"); };
  instrumented_ = names_any(dynamic, announces) || names_any(all, announces);
  read_comment(sections, header.e_shstrndx);
}

bool ElfCode::take_segments(const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments) {
    const Range range{segment.p_vaddr, segment.p_vaddr + segment.p_memsz};
    if (range.end < range.start) return false;
    const bool writable = (segment.p_flags & PF_W) != 0;
    // Writable code may be anything when it runs.
    if (segment.p_type == PT_LOAD && writable && (segment.p_flags & PF_X) != 0) return false;
    if ((segment.p_type == PT_LOAD && !writable) || segment.p_type == PT_GNU_RELRO) read_only_.push_back(range);
  }
  return !segments.empty();
}

std::vector<Elf64_Shdr> ElfCode::read_sections(const Elf64_Ehdr& header) const {
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > kMaxSections) return {};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_exactly(file_.get(), header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return {};
  return sections;
}

std::vector<std::uint8_t> ElfCode::contents(const Elf64_Shdr& header, std::uint64_t most) const {
  if (header.sh_type == SHT_NOBITS || header.sh_size > std::min(most, file_bytes_)) return {};
  std::vector<std::uint8_t> bytes(header.sh_size);
  if (!read_exactly(file_.get(), header.sh_offset, bytes.data(), bytes.size())) return {};
  return bytes;
}

ElfCode::SymbolTable ElfCode::read_symbols(const std::vector<Elf64_Shdr>& sections, std::uint32_t type) const {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const Elf64_Shdr& s) { return s.sh_type == type; });
  SymbolTable table;
  if (found == sections.end() || found->sh_link >= sections.size()) return table;
  const std::vector<std::uint8_t> bytes = contents(*found, kMaxTableBytes);
  const std::vector<std::uint8_t> names = contents(sections[found->sh_link], kMaxTableBytes);
  table.symbols.resize(bytes.size() / sizeof(Elf64_Sym));
  if (!table.symbols.empty()) std::memcpy(table.symbols.data(), bytes.data(), table.symbols.size() * sizeof(Elf64_Sym));
  table.names.assign(names.begin(), names.end());
  table.section = static_cast<std::size_t>(found - sections.begin());
  return table;
}

void ElfCode::read_functions(const SymbolTable& table) {
  names_ = table.names;
  for (const Elf64_Sym& symbol : table.symbols) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || (type != STT_FUNC && type != STT_GNU_IFUNC))
      continue;
    const std::uint64_t size = type == STT_FUNC ? symbol.st_size : 0;
    functions_.push_back({symbol.st_value, size, symbol.st_name});
  }
  std::stable_sort(functions_.begin(), functions_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.start < b.start; });
}

void ElfCode::read_slots(const std::vector<Elf64_Shdr>& sections, const SymbolTable& dynamic) {
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_RELA || section.sh_link != dynamic.section) continue;
    const std::vector<std::uint8_t> bytes = contents(section, kMaxTableBytes);
    for (std::size_t at = 0; bytes.size() - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      std::memcpy(&entry, bytes.data() + at, sizeof entry);
      const std::uint64_t type = ELF64_R_TYPE(entry.r_info), symbol = ELF64_R_SYM(entry.r_info);
      if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || symbol >= dynamic.symbols.size()) continue;
      slots_[entry.r_offset] = text_at(dynamic.names, dynamic.symbols[symbol].st_name);
    }
  }
}

// Every compiler that made a part of the file leaves its name here; each text is stored once.
void ElfCode::read_comment(const std::vector<Elf64_Shdr>& sections, std::uint32_t names) {
  if (names >= sections.size()) return;
  const std::vector<std::uint8_t> titles = contents(sections[names], kMaxTableBytes);
  const std::string all(titles.begin(), titles.end());
  for (const Elf64_Shdr& section : sections) {
    if (text_at(all, section.sh_name) != ".comment") continue;
    const std::vector<std::uint8_t> bytes = contents(section, kMaxCommentBytes);
    const std::string text(bytes.begin(), bytes.end());
    for (std::size_t at = 0; at < text.size(); at += text_at(text, at).size() + 1) {
      const std::string_view made = text_at(text, at);
      if (made.empty()) continue;
      if (!made.starts_with("GCC: ")) {
        made_by_gcc_ = false;
        return;
      }
      made_by_gcc_ = true;
    }
  }
}

std::optional<ElfCode::Function> ElfCode::function_at(std::uint64_t address) const {
  auto next = std::upper_bound(functions_.begin(), functions_.end(), address,
                               [](std::uint64_t a, const Symbol& symbol) { return a < symbol.start; });
  if (next == functions_.begin()) return std::nullopt;
  const std::uint64_t start = (next - 1)->start;
  std::uint64_t size = 0;
  for (auto same = next; same != functions_.begin() && (same - 1)->start == start; --same) {
    size = std::max(size, (same - 1)->size);
  }
  const bool overlaps = next != functions_.end() && next->start - start < size;
  if (size <= address - start || size > kMaxFunctionBytes || overlaps) return std::nullopt;
  Function function{start, std::vector<std::uint8_t>(size)};
  if (read_at_address(file_, start, function.code) != size) return std::nullopt;
  return function;
}

std::string ElfCode::name_at(std::uint64_t address) const {
  const auto found = std::lower_bound(functions_.begin(), functions_.end(), address,
                                      [](const Symbol& symbol, std::uint64_t a) { return symbol.start < a; });
  return found == functions_.end() || found->start != address ? std::string()
                                                              : std::string(text_at(names_, found->name));
}

std::string ElfCode::callee(std::uint64_t address, bool& outside) const {
  outside = false;
  std::string name = name_at(address);
  if (!name.empty()) return name;
  // A stub consists of an optional endbr64 and a jmp *slot(%rip), which may have the prefix bnd.
  constexpr std::array<std::uint8_t, 4> kMark = {0xf3, 0x0f, 0x1e, 0xfa};
  std::array<std::uint8_t, 16> code{};
  if (read_at_address(file_, address, code) != code.size()) return {};
  std::size_t at = std::equal(kMark.begin(), kMark.end(), code.begin()) ? kMark.size() : 0;
  if (code[at] == 0xf2) ++at;
  if (code[at] != 0xff || code[at + 1] != 0x25) return {};
  std::int32_t distance = 0;
  std::memcpy(&distance, code.data() + at + 2, sizeof distance);
  outside = true;
  return stored_at(address + at + 6 + static_cast<std::uint64_t>(std::int64_t{distance}));
}

std::string ElfCode::stored_at(std::uint64_t address) const {
  const auto found = slots_.find(address);
  return found == slots_.end() ? std::string() : found->second;
}

bool ElfCode::may_change(std::uint64_t address) const {
  return std::none_of(read_only_.begin(), read_only_.end(),
                      [&](const Range& r) { return address >= r.start && address < r.end; });
}

}  // namespace reweave
