// Looks up symbols of an object in memory. The core and the shim need this, because they link no library. Sources:
// elf(5); the hash table of defined symbols (DT_GNU_HASH) as written by the GNU linker.
#pragma once

#include <elf.h>

#include <cstdint>

namespace reweave {

// The dynamic section among `count` program headers of an object with load bias `bias`; null if it has none.
inline const Elf64_Dyn* dynamic_section(const Elf64_Phdr* headers, std::uint64_t count, std::uint64_t bias) {
  for (std::uint64_t i = 0; i < count; i++)
    if (headers[i].p_type == PT_DYNAMIC) return reinterpret_cast<const Elf64_Dyn*>(bias + headers[i].p_vaddr);
  return nullptr;
}

// The value of `tag` in the section; 0 if there is none.
inline std::uint64_t dynamic_value(const Elf64_Dyn* section, Elf64_Sxword tag) {
  for (; section != nullptr && section->d_tag != DT_NULL; section++)
    if (section->d_tag == tag) return section->d_un.d_val;
  return 0;
}

// Symbols of an object. `items` and `names` are null if it has none, `versions` if its symbols have no versions.
struct DynamicSymbols {
  Elf64_Sym* items;
  const char* names;
  const std::uint32_t* gnu_hash;
  const Elf64_Versym* versions;

  // `bias`: load bias of the section's addresses; 0 once the loader has made them absolute.
  DynamicSymbols(const Elf64_Dyn* section, std::uint64_t bias)
      : items(at<Elf64_Sym>(section, DT_SYMTAB, bias)),
        names(at<const char>(section, DT_STRTAB, bias)),
        gnu_hash(at<const std::uint32_t>(section, DT_GNU_HASH, bias)),
        versions(at<const Elf64_Versym>(section, DT_VERSYM, bias)) {}

  // True if defined symbols can be looked up.
  bool is_whole() const { return items != nullptr && names != nullptr && gnu_hash != nullptr; }
  const char* name(std::uint32_t i) const { return names + items[i].st_name; }

  std::uint32_t buckets() const { return gnu_hash[0]; }
  const std::uint32_t* bucket() const { return gnu_hash + 4 + 2 * gnu_hash[2]; }
  // The hashes of defined symbols; the lowest bit is set in the last one of a bucket.
  std::uint32_t hash(std::uint32_t i) const { return bucket()[buckets() + i - gnu_hash[1]]; }
  bool ends_bucket(std::uint32_t i) const { return (hash(i) & 1) != 0; }

  // The first defined symbol with `hash` that accept(i) accepts; 0 if there is none.
  template <typename Accept>
  std::uint32_t find(std::uint32_t hash, Accept accept) const {
    std::uint32_t i = buckets() == 0 ? 0 : bucket()[hash % buckets()];
    if (i < gnu_hash[1] || i == 0) return 0;
    for (;; i++) {
      if (((this->hash(i) ^ hash) >> 1) == 0 && accept(i)) return i;
      if (ends_bucket(i)) return 0;
    }
  }

  // Calls use(i) for every defined symbol.
  template <typename Use>
  void for_each_defined(Use use) const {
    for (std::uint32_t b = 0; b < buckets(); b++)
      for (std::uint32_t i = bucket()[b]; i >= gnu_hash[1] && i != 0; i++) {
        use(i);
        if (ends_bucket(i)) break;
      }
  }

 private:
  template <typename T>
  static T* at(const Elf64_Dyn* section, Elf64_Sxword tag, std::uint64_t bias) {
    const std::uint64_t value = dynamic_value(section, tag);
    return value == 0 ? nullptr : reinterpret_cast<T*>(bias + value);
  }
};

// The hash of a symbol's name in DT_GNU_HASH.
inline std::uint32_t symbol_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != 0; name++) hash = hash * 33 + static_cast<std::uint8_t>(*name);
  return hash;
}

}  // namespace reweave
