// The headers of ELF files, and the kernel's requirements for them (load_elf_binary).
#pragma once

#include <elf.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

constexpr std::uint64_t kMostHeaderBytes = 64 << 10;  // of program headers, as in the kernel
constexpr std::uint64_t kMostPath = 4096;

// Too large for a core stack.
template <typename File, typename Program>
struct Headers {
  File file;
  Program program[kMostHeaderBytes / sizeof(Program)];
};
using Headers64 = Headers<Elf64_Ehdr, Elf64_Phdr>;
using Headers32 = Headers<Elf32_Ehdr, Elf32_Phdr>;

// False if the file is not a program, or is for another machine.
bool read_headers(long fd, Headers64& headers);
// The name of the interpreter, if there is one. Returns 0 or the error that exec returns.
long read_interpreter(long fd, const Headers64& headers, bool& exists, char (&name)[kMostPath]);
// False if the kernel would find that it cannot load the file only after exec can no longer return; the process then
// dies.
bool is_loadable(const Headers64& headers);

struct ElfProgram {
  bool i386;  // a 32-bit program that this kernel can execute
  bool has_interpreter;
  char interpreter[kMostPath];
};

// 0, or the error that exec of the program open as `fd` returns, apart from errors about its interpreter.
long read_elf_program(long fd, ElfProgram& program);
// The same for an ELF program's interpreter.
long check_elf_interpreter(long fd, bool i386);

}  // namespace reweave::core
