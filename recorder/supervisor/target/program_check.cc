#include "recorder/supervisor/target/program_check.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "formats/base/error.h"
#include "formats/base/fd.h"

namespace reweave {

namespace fs = std::filesystem;

namespace {

// A run-time library that needs the addresses of Reweave's memory, or does what Reweave does.
struct SanitizerRuntime {
  const char* symbol;
  bool defined;  // only matters in a program that contains the library, not in one that loads it
  const char* advice;
};

constexpr SanitizerRuntime kSanitizerRuntimes[] = {
    {"__tsan_init", true,
     "ThreadSanitizer's run-time library is linked into it and not exported; build it without -static-libtsan (gcc), "
     "or "
     "with -shared-libsan (clang)"},
    {"__asan_init", false,
     "it is built with AddressSanitizer, which needs the same addresses as Reweave; build it without"},
    {"__msan_init", false,
     "it is built with MemorySanitizer, which needs the same addresses as Reweave; build it without"},
    {"__lsan_init", false,
     "it is built with LeakSanitizer, which needs the same addresses as Reweave; build it without"},
};

const char* advice_about(const char* name, bool defined) {
  for (const SanitizerRuntime& runtime : kSanitizerRuntimes)
    if (std::strcmp(runtime.symbol, name) == 0 && (defined || !runtime.defined)) return runtime.advice;
  return nullptr;
}

// Searches one symbol table of the program.
const char* advice_in(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return nullptr;
  const std::size_t count = data->d_size / header.sh_entsize;
  for (std::size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return nullptr;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || name[0] != '_') continue;
    if (const char* advice = advice_about(name, symbol.st_shndx != SHN_UNDEF)) return advice;
  }
  return nullptr;
}

// clang exports the runtime that it links, so the dynamic loader can be made to use the shim instead
// (core/code/static_runtime.h).
bool is_exported(const GElf_Shdr& header, const char* advice) {
  return header.sh_type == SHT_DYNSYM && advice == kSanitizerRuntimes[0].advice;
}

const char* sanitizer_advice(int fd) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ, nullptr), elf_end);
  if (elf == nullptr) return nullptr;
  const char* advice = nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    const char* found = advice_in(elf.get(), section, header);
    if (found != nullptr && is_exported(header, found)) return nullptr;
    if (found != nullptr) advice = found;
  }
  return advice;
}

// Why the kernel or Reweave could not run it; empty if it can be run.
std::string explain_unusable(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (access(path.c_str(), X_OK) != 0) return "it is not executable; chmod +x it";
  const bool raised = ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                      ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid());
  if (raised)
    return "it is setuid or setgid, and would run without these rights; record it as the user that it becomes";
  unsigned char head[sizeof(Elf64_Ehdr)] = {};
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return std::strerror(errno);
  const ssize_t n = read(fd.get(), head, sizeof head);
  if (n >= 2 && head[0] == '#' && head[1] == '!') return {};
  if (n < 20 || std::memcmp(head, ELFMAG, SELFMAG) != 0)
    return "it is neither an ELF program nor a script with a #! line";
  const auto machine = static_cast<unsigned>(head[18] | head[19] << 8);
  if (head[EI_CLASS] != ELFCLASS64) return "it is a 32-bit program; build it for x86-64";
  if (machine != EM_X86_64) return "it is built for another processor; build it for x86-64";
  const char* advice = sanitizer_advice(fd.get());
  return advice == nullptr ? "" : advice;
}

}  // namespace

std::string find_program(const std::string& name) {
  std::string found;
  if (name.find('/') != std::string::npos) {
    found = fs::absolute(name).lexically_normal().string();
  } else {
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (found.empty() && !rest.empty()) {
      const auto colon = rest.find(':');
      const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
      std::error_code ignored;
      if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0) found = candidate.string();
      rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
    REQUIRE(!found.empty(), "{}: no such program in PATH; give its path", name);
  }
  const std::string problem = explain_unusable(found);
  REQUIRE(problem.empty(), "{}: {}", found, problem);
  return found;
}

}  // namespace reweave
