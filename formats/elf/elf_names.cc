#include "formats/elf/elf_names.h"

#include <gelf.h>
#include <libelf.h>

#include <functional>
#include <memory>

namespace reweave {
namespace {

using Section = std::function<void(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Elf_Data* data)>;

void visit_sections(const Fd& file, const Section& visit) {
  if (!file.valid() || elf_version(EV_CURRENT) == EV_NONE) return;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr), elf_end);
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    Elf_Data* data = nullptr;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    if ((data = elf_getdata(section, nullptr)) != nullptr) visit(elf.get(), section, header, data);
  }
}

// The actual number of entries; the number in the header is not trusted.
int entries_of(const GElf_Shdr& header, const Elf_Data* data) {
  return static_cast<int>(std::min<std::uint64_t>(header.sh_size, data->d_size) / header.sh_entsize);
}

// The name of symbol `number` in the symbol table that is section `section`.
std::string name_of_symbol(Elf* elf, std::size_t section, std::size_t number) {
  Elf_Scn* symbols = elf_getscn(elf, section);
  GElf_Shdr header;
  if (symbols == nullptr || gelf_getshdr(symbols, &header) == nullptr) return "";
  GElf_Sym symbol;
  if (gelf_getsym(elf_getdata(symbols, nullptr), static_cast<int>(number), &symbol) == nullptr) return "";
  const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
  return name == nullptr ? "" : name;
}

}  // namespace

std::map<std::uint64_t, std::string> imported_names(const Fd& file) {
  std::map<std::uint64_t, std::string> names;
  visit_sections(file, [&](Elf* elf, Elf_Scn*, const GElf_Shdr& header, Elf_Data* data) {
    if (header.sh_type != SHT_RELA) return;
    for (int i = 0; i < entries_of(header, data); i++) {
      GElf_Rela relocation;
      if (gelf_getrela(data, i, &relocation) == nullptr) break;
      const std::uint64_t symbol = GELF_R_SYM(relocation.r_info);
      if (symbol == 0) continue;
      if (std::string name = name_of_symbol(elf, header.sh_link, symbol); !name.empty())
        names.emplace(relocation.r_offset, std::move(name));
    }
  });
  return names;
}

std::set<std::string> defined_names(const Fd& file) {
  std::set<std::string> names;
  visit_sections(file, [&](Elf* elf, Elf_Scn*, const GElf_Shdr& header, Elf_Data* data) {
    if (header.sh_type != SHT_DYNSYM) return;
    for (int i = 0; i < entries_of(header, data); i++) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) break;
      if (symbol.st_shndx == SHN_UNDEF) continue;
      if (const char* name = elf_strptr(elf, header.sh_link, symbol.st_name); name != nullptr) names.insert(name);
    }
  });
  return names;
}

}  // namespace reweave
