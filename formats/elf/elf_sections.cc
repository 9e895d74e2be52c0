#include "formats/elf/elf_sections.h"

#include <gelf.h>
#include <libelf.h>

#include <memory>

namespace reweave {

std::string section_of(const Fd& file, const std::string& name) {
  if (!file.valid() || elf_version(EV_CURRENT) == EV_NONE) return "";
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr), elf_end);
  std::size_t names = 0;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0) return "";
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* own = elf_strptr(elf.get(), names, header.sh_name);
    if (own == nullptr || name != own) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return "";
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return "";
}

}  // namespace reweave
