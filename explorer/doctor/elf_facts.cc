#include "explorer/doctor/elf_facts.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>

#include <cstring>
#include <memory>
#include <string_view>

namespace reweave {

namespace {

// Every program built with a sanitizer calls a function whose name begins like this.
constexpr std::pair<std::string_view, const char*> kSanitizers[] = {
    {"__tsan_", "thread"}, {"__asan_", "address"},    {"__msan_", "memory"},
    {"__lsan_", "leak"},   {"__ubsan_", "undefined"}, {"__hwasan_", "hwaddress"},
};

void look_at_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const std::size_t count = data->d_size / header.sh_entsize;
  for (std::size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || name[0] != '_') continue;
    for (const auto& [prefix, sanitizer] : kSanitizers)
      if (std::string_view(name).starts_with(prefix)) facts.sanitizers.insert(sanitizer);
  }
}

// A skeleton unit names its .dwo file in .debug_str or .debug_line_str.
bool names_dwo(Elf_Scn* section, const GElf_Shdr& header) {
  if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) return false;
  const Elf_Data* data = elf_getdata(section, nullptr);
  constexpr std::string_view kEnding(".dwo", 5);  // with its NUL
  return data != nullptr && data->d_buf != nullptr &&
         memmem(data->d_buf, data->d_size, kEnding.data(), kEnding.size()) != nullptr;
}

void look_at_debug_section(std::string_view name, Elf_Scn* section, const GElf_Shdr& header, ElfFacts& facts) {
  if (name == ".zdebug_info" || (name == ".debug_info" && (header.sh_flags & SHF_COMPRESSED) != 0))
    facts.is_compressed = true;
  if (name == ".debug_str" || name == ".debug_line_str") facts.is_split = facts.is_split || names_dwo(section, header);
}

}  // namespace

ElfFacts facts_of(const Fd& file) {
  ElfFacts facts;
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ, nullptr), elf_end);
  std::size_t names = 0, segments = 0;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return facts;
  facts.is_elf = true;
  for (std::size_t i = 0; elf_getphdrnum(elf.get(), &segments) == 0 && i < segments; i++) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) break;
    facts.is_dynamic = facts.is_dynamic || segment.p_type == PT_INTERP;
  }
  if (elf_getshdrstrndx(elf.get(), &names) != 0) return facts;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (const char* name = elf_strptr(elf.get(), names, header.sh_name)) {
      facts.sections.insert(name);
      look_at_debug_section(name, section, header, facts);
    }
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
      look_at_symbols(elf.get(), section, header, facts);
  }
  return facts;
}

}  // namespace reweave
