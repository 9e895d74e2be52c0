// A program that contains ThreadSanitizer's runtime calls it without the loader. Before any code of the program runs,
// each function of the runtime that the core has hidden (core/code/static_runtime.h) is replaced by a jump to the
// function that the program would have got without the runtime: this library's or the C library's.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "recorder/elf_symbols.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

namespace {

// jmp *0(%rip), and the address. It fits because functions are aligned to 16 bytes.
struct [[gnu::packed]] Jump {
  std::uint8_t code[6];
  std::uint64_t target;
};

struct Program {
  std::uint64_t base;
  const Elf64_Phdr* headers;
  std::uint64_t header_count;
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

// True if the core has not hidden the symbol from the loader and it is not a version for old programs only.
bool is_visible(const DynamicSymbols& symbols, std::uint32_t i) {
  constexpr Elf64_Versym kOldOnly = 0x8000;
  if (ELF64_ST_BIND(symbols.items[i].st_info) == STB_LOCAL) return false;
  return symbols.versions == nullptr || (symbols.versions[i] & kOldOnly) == 0;
}

bool defines(const DynamicSymbols& symbols, const char* name) {
  return symbols.find(symbol_hash(name),
                      [&](std::uint32_t i) { return is_visible(symbols, i) && equal(symbols.name(i), name); }) != 0;
}

// True if a loaded library defines `name`. Checked before dlsym is called, because a failed dlsym leaves a dlerror
// message in memory, which the program would have had to free.
bool is_defined(const char* name) {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    const DynamicSymbols symbols(map->l_ld, 0);
    if (symbols.is_whole() && defines(symbols, name)) return true;
  }
  return false;
}

// The replacement of the runtime's function `name`. Null if that is kept, because nothing else calls it.
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

bool is_hidden(const Elf64_Sym& symbol) {
  return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

void redirect_all(const Program& program, const DynamicSymbols& symbols) {
  symbols.for_each_defined([&](std::uint32_t i) {
    if (const void* to = is_hidden(symbols.items[i]) ? replacement(symbols.name(i)) : nullptr)
      redirect(program.base + symbols.items[i].st_value, to);
  });
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

bool any_hidden(const DynamicSymbols& symbols) {
  bool any = false;
  symbols.for_each_defined([&](std::uint32_t i) { any = any || is_hidden(symbols.items[i]); });
  return any;
}

[[gnu::constructor]] void take_place_of_static_runtime() {
  const Program program = find_program();
  // The loader has made the section's addresses absolute.
  const DynamicSymbols symbols(dynamic_section(program.headers, program.header_count, program.base), 0);
  if (!symbols.is_whole() || !any_hidden(symbols)) return;
  protect_code(program, PROT_READ | PROT_WRITE | PROT_EXEC);
  redirect_all(program, symbols);
  protect_code(program, PROT_READ | PROT_EXEC);
}

}  // namespace

}  // namespace reweave::shim
