#include "recorder/core/static_runtime.h"

#include <elf.h>
#include <sys/mman.h>

#include "recorder/core/fatal.h"
#include "recorder/core/stubs.h"

namespace reweave::core {

namespace {

constexpr std::uint8_t kReturn = 0xc3;

// What a program's dynamic section says of its symbols.
struct Symbols {
  Elf64_Sym* items;
  const char* names;
  const std::uint32_t* gnu_hash;
};

bool find_symbols(const LoadedImage& image, Symbols& out) {
  const auto* headers = reinterpret_cast<const Elf64_Phdr*>(image.headers);
  const Elf64_Dyn* entry = nullptr;
  for (std::uint64_t i = 0; i < image.header_count; i++)
    if (headers[i].p_type == PT_DYNAMIC) entry = reinterpret_cast<const Elf64_Dyn*>(image.base + headers[i].p_vaddr);
  out = {};
  for (; entry != nullptr && entry->d_tag != DT_NULL; entry++) {
    const std::uint64_t at = image.base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) out.items = reinterpret_cast<Elf64_Sym*>(at);
    if (entry->d_tag == DT_STRTAB) out.names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) out.gnu_hash = reinterpret_cast<const std::uint32_t*>(at);
  }
  return out.items != nullptr && out.names != nullptr && out.gnu_hash != nullptr;
}

// Symbols from `first` on are those that the hash table knows, the defined ones: their number is nowhere else.
struct Range {
  std::uint32_t first, end;
};

Range defined_symbols(const Symbols& symbols) {
  const std::uint32_t buckets = symbols.gnu_hash[0], first = symbols.gnu_hash[1], words = symbols.gnu_hash[2];
  const std::uint32_t* bucket = symbols.gnu_hash + 4 + 2 * words;
  const std::uint32_t* chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; i++)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return {0, 0};
  while ((chain[last - first] & 1) == 0) last++;
  return {first, last + 1};
}

// `name` without the prefix of the function that stands for it, or null.
const char* intercepted_name(const char* name) {
  for (const char* prefix : {"___interceptor_", "__interceptor_"})
    if (starts_with(name, prefix)) return name + string_length(prefix);
  return nullptr;
}

// The names that are intercepted, by hash.
class NameSet {
 public:
  void clear() { memset(slots_, 0, sizeof slots_); }
  void add(const char* name) {
    std::uint32_t i = slot_of(name);
    for (std::uint32_t tries = 0; slots_[i] != nullptr; i = (i + 1) % kSlots)
      if (++tries == kSlots / 2) bug("more intercepted functions than any runtime has");
    slots_[i] = name;
  }
  bool has(const char* name) const {
    for (std::uint32_t i = slot_of(name); slots_[i] != nullptr; i = (i + 1) % kSlots)
      if (string_equal(slots_[i], name)) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t kSlots = 8192;
  static std::uint32_t slot_of(const char* name) {
    std::uint32_t hash = 5381;
    for (; *name != 0; name++) hash = hash * 33 + static_cast<std::uint8_t>(*name);
    return hash % kSlots;
  }
  const char* slots_[kSlots];
};
NameSet intercepted;

// The program cannot define these itself beside a runtime that does.
bool is_runtimes_own(const char* name) {
  for (const char* prefix : {"__tsan_", "__sanitizer_", "__ubsan_", "Annotate", "WTFAnnotate", "_Znw", "_Zna", "_Zdl",
                             "_Zda", "RunningOnValgrind", "ValgrindSlowdown"})
    if (starts_with(name, prefix)) return true;
  return intercepted_name(name) != nullptr;
}

void make_local(Elf64_Sym& symbol) {
  symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_LOCAL, ELF64_ST_TYPE(symbol.st_info)));
}

bool is_function(const Elf64_Sym& symbol) {
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

const Elf64_Sym* find_initialiser(const Symbols& symbols, Range range) {
  for (std::uint32_t i = range.first; i < range.end; i++)
    if (is_function(symbols.items[i]) && string_equal(symbols.names + symbols.items[i].st_name, "__tsan_init"))
      return &symbols.items[i];
  return nullptr;
}

void hide_functions(const Symbols& symbols, Range range) {
  intercepted.clear();
  for (std::uint32_t i = range.first; i < range.end; i++)
    if (const char* name = intercepted_name(symbols.names + symbols.items[i].st_name)) intercepted.add(name);
  const Writable table(reinterpret_cast<std::uint64_t>(symbols.items), range.end * sizeof(Elf64_Sym), PROT_READ);
  if (!table.done()) bug("cannot change the program's symbols");
  for (std::uint32_t i = range.first; i < range.end; i++) {
    const char* name = symbols.names + symbols.items[i].st_name;
    if (is_function(symbols.items[i]) && (is_runtimes_own(name) || intercepted.has(name))) make_local(symbols.items[i]);
  }
}

}  // namespace

bool detach_static_runtime(const LoadedImage& image) {
  Symbols symbols;
  if (image.interpreter[0] == 0 || !find_symbols(image, symbols)) return false;
  const Range range = defined_symbols(symbols);
  const Elf64_Sym* initialiser = find_initialiser(symbols, range);
  if (initialiser == nullptr) return false;
  const std::uint64_t entry = image.base + initialiser->st_value;
  hide_functions(symbols, range);
  const Writable code(entry, 1);
  if (!code.done()) bug("cannot change the program's code");
  *reinterpret_cast<std::uint8_t*>(entry) = kReturn;
  return true;
}

}  // namespace reweave::core
