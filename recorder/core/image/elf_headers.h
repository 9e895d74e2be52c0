// The headers of ELF files, and what the kernel asks of them (load_elf_binary).
#pragma once

#include <elf.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

constexpr std::uint64_t kMostHeaderBytes = 64 << 10;  // of program headers: the kernel takes no more
constexpr std::uint64_t kMostPath = 4096;

// Too large for a stack of ours.
template <typename File, typename Program>
struct Headers {
  File file;
  Program program[kMostHeaderBytes / sizeof(Program)];
};
using Headers64 = Headers<Elf64_Ehdr, Elf64_Phdr>;
using Headers32 = Headers<Elf32_Ehdr, Elf32_Phdr>;

// False: no program, or one for another machine.
bool read_headers(long fd, Headers64& headers);
// The name of the interpreter, if there is one; an error that exec gives, or 0.
long read_interpreter(long fd, const Headers64& headers, bool& exists, char (&name)[kMostPath]);
// False: the kernel finds out that it cannot be loaded when exec can no longer return, and the process dies.
bool is_loadable(const Headers64& headers);

struct ElfProgram {
  bool i386;  // one that this kernel executes
  bool has_interpreter;
  char interpreter[kMostPath];
};

// 0, or the error that exec of the program gives that is open as `fd`, but for what is wrong with its interpreter.
long read_elf_program(long fd, ElfProgram& program);
// Likewise for the interpreter of one.
long check_elf_interpreter(long fd, bool i386);

}  // namespace reweave::core
