#include "recorder/core/code/static_runtime.h"

#include <sys/mman.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/code/sleds.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/elf_symbols.h"

namespace reweave::core {

namespace {

// `name` without the prefix of an interceptor, or null.
const char* intercepted_name(const char* name) {
  for (const char* prefix : {"___interceptor_", "__interceptor_"})
    if (starts_with(name, prefix)) return name + string_length(prefix);
  return nullptr;
}

// The intercepted names, by hash.
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
  static std::uint32_t slot_of(const char* name) { return symbol_hash(name) % kSlots; }
  const char* slots_[kSlots];
};
NameSet intercepted;

// True for functions that the runtime defines, so the program cannot define them itself.
bool is_runtimes_own(const char* name) {
  for (const char* prefix : {"__tsan_", "__sanitizer_", "__ubsan_", "__cxa_guard_", "Annotate", "WTFAnnotate", "_Znw",
                             "_Zna", "_Zdl", "_Zda", "RunningOnValgrind", "ValgrindSlowdown"})
    if (starts_with(name, prefix)) return true;
  return intercepted_name(name) != nullptr;
}

void make_local(Elf64_Sym& symbol) {
  symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_LOCAL, ELF64_ST_TYPE(symbol.st_info)));
}

bool is_function(const Elf64_Sym& symbol) {
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

const Elf64_Sym* find_initialiser(const DynamicSymbols& symbols) {
  const Elf64_Sym* found = nullptr;
  symbols.for_each_defined([&](std::uint32_t i) {
    if (is_function(symbols.items[i]) && string_equal(symbols.name(i), "__tsan_init")) found = &symbols.items[i];
  });
  return found;
}

void hide_functions(const DynamicSymbols& symbols) {
  intercepted.clear();
  std::uint32_t end = 0;
  symbols.for_each_defined([&](std::uint32_t i) {
    if (const char* name = intercepted_name(symbols.name(i))) intercepted.add(name);
    if (i >= end) end = i + 1;
  });
  const Writable table(reinterpret_cast<std::uint64_t>(symbols.items), end * sizeof(Elf64_Sym), PROT_READ);
  if (!table.done()) bug("cannot change the program's symbols");
  symbols.for_each_defined([&](std::uint32_t i) {
    const bool replaced = is_runtimes_own(symbols.name(i)) || intercepted.has(symbols.name(i));
    if (is_function(symbols.items[i]) && replaced) make_local(symbols.items[i]);
  });
}

// Returns whether there is such a runtime.
bool detach_runtime(const LoadedImage& image) {
  if (image.interpreter[0] == 0) return false;
  const DynamicSymbols symbols(dynamic_section(image), image.base);
  if (!symbols.is_whole()) return false;
  const Elf64_Sym* initialiser = find_initialiser(symbols);
  if (initialiser == nullptr) return false;
  const std::uint64_t entry = image.base + initialiser->st_value;
  hide_functions(symbols);
  const Writable code(entry, 1);
  if (!code.done()) bug("cannot change the program's code");
  *reinterpret_cast<std::uint8_t*>(entry) = kReturn[0];
  return true;
}

}  // namespace

bool prepare_instrumented(const LoadedImage& image) { return detach_runtime(image) || has_sleds(image.start); }

}  // namespace reweave::core
