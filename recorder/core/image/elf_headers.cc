#include "recorder/core/image/elf_headers.h"

#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kUserEnd = 0x7fff'ffff'f000;  // TASK_SIZE

// The kernel checks nothing else in e_ident.
bool has_magic(const unsigned char* ident) { return memcmp(ident, ELFMAG, SELFMAG) == 0; }

bool is_for(const Elf64_Ehdr& file) { return file.e_machine == EM_X86_64; }
bool is_for(const Elf32_Ehdr& file) { return file.e_machine == EM_386 || file.e_machine == 6 /* EM_486 */; }

template <typename File, typename Program>
bool read_program_headers(long fd, Headers<File, Program>& headers) {
  const std::uint64_t bytes = headers.file.e_phnum * sizeof(Program);
  if (headers.file.e_phentsize != sizeof(Program) || bytes == 0 || bytes > sizeof headers.program) return false;
  return sys(SYS_pread64, fd, headers.program, bytes, headers.file.e_phoff) == static_cast<long>(bytes);
}

template <typename File, typename Program>
bool read_all(long fd, Headers<File, Program>& headers) {
  const File& file = headers.file;
  if (sys(SYS_pread64, fd, &headers.file, sizeof file, 0) != sizeof file || !has_magic(file.e_ident)) return false;
  return (file.e_type == ET_EXEC || file.e_type == ET_DYN) && is_for(file) && read_program_headers(fd, headers);
}

template <typename File, typename Program>
long find_interpreter(long fd, const Headers<File, Program>& headers, bool& exists, char (&name)[kMostPath]) {
  exists = false;
  for (int i = 0; i < headers.file.e_phnum; i++) {
    const Program& header = headers.program[i];
    if (header.p_type != PT_INTERP) continue;
    if (header.p_filesz < 2 || header.p_filesz > sizeof name) return -ENOEXEC;
    const long n = sys(SYS_pread64, fd, name, header.p_filesz, header.p_offset);
    if (is_error(n)) return n;
    if (n != static_cast<long>(header.p_filesz)) return -EIO;
    exists = true;
    return name[n - 1] == 0 ? 0 : -ENOEXEC;
  }
  return 0;
}

template <typename File, typename Program>
long check_interpreter_of(long fd) {
  static Headers<File, Program> headers;
  const long n = sys(SYS_pread64, fd, &headers.file, sizeof headers.file, 0);
  if (is_error(n)) return n;
  if (n != sizeof headers.file) return -EIO;
  const bool good = has_magic(headers.file.e_ident) && is_for(headers.file) && read_program_headers(fd, headers);
  return good ? 0 : -ELIBBAD;
}

// True if the kernel executes i386 programs (CONFIG_IA32_EMULATION): only then does this file exist.
bool executes_i386() { return !is_error(sys(SYS_faccessat, kProcFd, "sys/abi/vsyscall32", 0)); }

}  // namespace

bool read_headers(long fd, Headers64& headers) { return read_all(fd, headers); }

long read_interpreter(long fd, const Headers64& headers, bool& exists, char (&name)[kMostPath]) {
  return find_interpreter(fd, headers, exists, name);
}

bool is_loadable(const Headers64& headers) {
  bool any = false;
  for (int i = 0; i < headers.file.e_phnum; i++) {
    const Elf64_Phdr& header = headers.program[i];
    if (header.p_type != PT_LOAD) continue;
    any = true;
    if (header.p_filesz > header.p_memsz || header.p_memsz > kUserEnd || kUserEnd - header.p_memsz < header.p_vaddr)
      return false;
    if (header.p_filesz != 0 && (header.p_vaddr - header.p_offset) % kPage != 0) return false;
  }
  return any;
}

long read_elf_program(long fd, ElfProgram& program) {
  static Headers64 headers;
  static Headers32 of_i386;
  program.i386 = false;
  if (read_all(fd, headers)) return find_interpreter(fd, headers, program.has_interpreter, program.interpreter);
  program.i386 = true;
  if (!read_all(fd, of_i386) || !executes_i386()) return -ENOEXEC;
  return find_interpreter(fd, of_i386, program.has_interpreter, program.interpreter);
}

long check_elf_interpreter(long fd, bool i386) {
  return i386 ? check_interpreter_of<Elf32_Ehdr, Elf32_Phdr>(fd) : check_interpreter_of<Elf64_Ehdr, Elf64_Phdr>(fd);
}

}  // namespace reweave::core
