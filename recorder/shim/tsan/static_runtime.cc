// A program with ThreadSanitizer's runtime in it calls that without asking the loader. Before any code of the program
// runs, each function of the runtime that the core hid (core/static_runtime.h) becomes a jump to the function that the
// program would have got without the runtime: ours, or the C library's.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

// jmp *0(%rip), and the address: functions are aligned to 16 bytes.
struct [[gnu::packed]] Jump {
  std::uint8_t code[6];
  std::uint64_t target;
};

struct Program {
  std::uint64_t base;
  const Elf64_Phdr* headers;
  std::uint64_t header_count;
};

struct Symbols {
  const Elf64_Sym* items;
  const char* names;
  const std::uint32_t* gnu_hash;
  const Elf64_Versym* versions;  // or null
};

bool begins(const char* name, const char* prefix) {
  while (*prefix != 0 && *name == *prefix) name++, prefix++;
  return *prefix == 0;
}

bool equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}

Program find_program() {
  Program program = {0, reinterpret_cast<const Elf64_Phdr*>(getauxval(AT_PHDR)), getauxval(AT_PHNUM)};
  for (std::uint64_t i = 0; i < program.header_count; i++)
    if (program.headers[i].p_type == PT_PHDR)
      program.base = reinterpret_cast<std::uint64_t>(program.headers) - program.headers[i].p_vaddr;
  return program;
}

// The loader has made the pointers in a dynamic section absolute.
Symbols find_symbols(const Elf64_Dyn* entry) {
  Symbols symbols = {};
  for (; entry != nullptr && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) symbols.items = reinterpret_cast<const Elf64_Sym*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) symbols.names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_VERSYM) symbols.versions = reinterpret_cast<const Elf64_Versym*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) symbols.gnu_hash = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr);
  }
  return symbols;
}

bool is_whole(const Symbols& symbols) {
  return symbols.items != nullptr && symbols.names != nullptr && symbols.gnu_hash != nullptr;
}

const Elf64_Dyn* dynamic_section(const Program& program) {
  for (std::uint64_t i = 0; i < program.header_count; i++)
    if (program.headers[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const Elf64_Dyn*>(program.base + program.headers[i].p_vaddr);
  return nullptr;
}

// Neither hidden from the loader by us, nor there for old programs only.
bool is_visible(const Symbols& symbols, std::uint32_t i) {
  constexpr Elf64_Versym kOldOnly = 0x8000;
  if (ELF64_ST_BIND(symbols.items[i].st_info) == STB_LOCAL) return false;
  return symbols.versions == nullptr || (symbols.versions[i] & kOldOnly) == 0;
}

bool defines(const Symbols& symbols, const char* name, std::uint32_t hash) {
  const std::uint32_t buckets = symbols.gnu_hash[0], first = symbols.gnu_hash[1];
  const std::uint32_t* bucket = symbols.gnu_hash + 4 + 2 * symbols.gnu_hash[2];
  const std::uint32_t* chain = bucket + buckets;
  std::uint32_t i = buckets == 0 ? 0 : bucket[hash % buckets];
  if (i < first || i == 0) return false;
  for (;; i++) {
    const bool same_hash = ((chain[i - first] ^ hash) >> 1) == 0;
    if (same_hash && is_visible(symbols, i) && equal(symbols.names + symbols.items[i].st_name, name)) return true;
    if ((chain[i - first] & 1) != 0) return false;
  }
}

// Asked first, for a search in vain leaves a message of dlerror's in memory, which the program would have had to free.
bool is_defined(const char* name) {
  std::uint32_t hash = 5381;
  for (const char* p = name; *p != 0; p++) hash = hash * 33 + static_cast<std::uint8_t>(*p);
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    const Symbols symbols = find_symbols(map->l_ld);
    if (is_whole(symbols) && defines(symbols, name, hash)) return true;
  }
  return false;
}

// The function that takes the place of the runtime's `name`; null: it is left, for nothing else calls it.
void* replacement(const char* name) {
  for (const char* prefix : {"___interceptor_", "__interceptor_"})
    if (begins(name, prefix)) {
      while (*prefix != 0) name++, prefix++;
      break;
    }
  if (begins(name, "__sanitizer_") || begins(name, "__ubsan_")) return nullptr;
  if (equal(name, "sigsetjmp")) name = "__sigsetjmp";
  return is_defined(name) ? dlsym(RTLD_DEFAULT, name) : nullptr;
}

void redirect(std::uint64_t from, const void* to) {
  const Jump jump = {{0xff, 0x25, 0, 0, 0, 0}, reinterpret_cast<std::uint64_t>(to)};
  __builtin_memcpy(reinterpret_cast<void*>(from), &jump, sizeof jump);
}

// The hash table knows the defined symbols, and where they end.
void redirect_all(const Program& program, const Symbols& symbols) {
  const std::uint32_t buckets = symbols.gnu_hash[0], first = symbols.gnu_hash[1], words = symbols.gnu_hash[2];
  const std::uint32_t* bucket = symbols.gnu_hash + 4 + 2 * words;
  const std::uint32_t* chain = bucket + buckets;
  for (std::uint32_t b = 0; b < buckets; b++) {
    if (bucket[b] < first) continue;
    for (std::uint32_t i = bucket[b];; i++) {
      const Elf64_Sym& symbol = symbols.items[i];
      const bool hidden = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (const void* to = hidden ? replacement(symbols.names + symbol.st_name) : nullptr)
        redirect(program.base + symbol.st_value, to);
      if ((chain[i - first] & 1) != 0) break;
    }
  }
}

void protect_code(const Program& program, int protection) {
  for (std::uint64_t i = 0; i < program.header_count; i++) {
    const Elf64_Phdr& header = program.headers[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    constexpr std::uint64_t kPage = 4096;
    const std::uint64_t start = (program.base + header.p_vaddr) / kPage * kPage;
    const std::uint64_t end = program.base + header.p_vaddr + header.p_memsz;
    mprotect(reinterpret_cast<void*>(start), end - start, protection);
  }
}

bool any_hidden(const Symbols& symbols) {
  const std::uint32_t first = symbols.gnu_hash[1];
  const std::uint32_t* bucket = symbols.gnu_hash + 4 + 2 * symbols.gnu_hash[2];
  for (std::uint32_t b = 0; b < symbols.gnu_hash[0]; b++)
    if (bucket[b] >= first && ELF64_ST_BIND(symbols.items[bucket[b]].st_info) == STB_LOCAL) return true;
  return false;
}

[[gnu::constructor]] void take_place_of_static_runtime() {
  const Program program = find_program();
  const Symbols symbols = find_symbols(dynamic_section(program));
  if (!is_whole(symbols) || !any_hidden(symbols)) return;
  protect_code(program, PROT_READ | PROT_WRITE | PROT_EXEC);
  redirect_all(program, symbols);
  protect_code(program, PROT_READ | PROT_EXEC);
}

}  // namespace

}  // namespace reweave::shim
