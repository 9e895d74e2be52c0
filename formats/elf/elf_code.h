// The machine code of an ELF file, function by function, with the names of the functions that it calls.
//
// The file may be hostile: sizes are bounded and offsets checked. Malformed parts are ignored; then a function may not
// be found, or a name may be empty. Addresses are those of the file, without a load bias.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/fd.h"

namespace reweave {

class ElfCode {
 public:
  struct Function {
    std::uint64_t start = 0;
    std::vector<std::uint8_t> code;
  };

  // Longer functions are not found.
  static constexpr std::uint64_t kMaxFunctionBytes = 64 * 1024;

  // If the file is not open, or is not a 64-bit ELF file, it has no functions.
  explicit ElfCode(Fd file);

  // The function around `address`, if a symbol tells its size and no other function begins inside.
  std::optional<Function> function_at(std::uint64_t address) const;
  // The name of the function called by a call of `address`: the function there, or the one to which a stub of the
  // procedure linkage table jumps. `outside`: it is, or may be, a function of another file. Empty if unknown.
  std::string callee(std::uint64_t address, bool& outside) const;
  // The name of the function whose address the dynamic loader stores at `address`; empty if it stores none.
  std::string stored_at(std::uint64_t address) const;
  // False if the data at `address` stays as the dynamic loader left it.
  bool may_change(std::uint64_t address) const;
  // True if the file has, or may have, code that is entered when an exception passes through a function.
  bool unwinds() const { return unwinds_; }
  // True if the file uses functions by which instrumented code announces its accesses.
  bool instrumented() const { return instrumented_; }
  // True if GCC alone compiled the code.
  bool made_by_gcc() const { return made_by_gcc_; }

 private:
  struct Symbol {
    std::uint64_t start, size;
    std::uint32_t name;  // offset in the names
  };
  struct Range {
    std::uint64_t start, end;
  };
  struct SymbolTable;

  // False if the file has no segments, or code in a writable one.
  bool take_segments(const std::vector<Elf64_Phdr>& segments);
  std::vector<Elf64_Shdr> read_sections(const Elf64_Ehdr& header) const;
  std::vector<std::uint8_t> contents(const Elf64_Shdr& header, std::uint64_t most) const;
  SymbolTable read_symbols(const std::vector<Elf64_Shdr>& sections, std::uint32_t type) const;
  void read_functions(const SymbolTable& table);
  void read_slots(const std::vector<Elf64_Shdr>& sections, const SymbolTable& dynamic);
  void read_comment(const std::vector<Elf64_Shdr>& sections, std::uint32_t names);
  template <typename Test>
  static bool names_any(const SymbolTable& table, Test test);
  std::string name_at(std::uint64_t address) const;

  Fd file_;
  std::uint64_t file_bytes_ = 0;
  std::vector<Symbol> functions_;  // by start
  std::string names_;              // of functions_
  std::unordered_map<std::uint64_t, std::string> slots_;
  std::vector<Range> read_only_;  // once the program has started
  bool unwinds_ = true;
  bool made_by_gcc_ = false, instrumented_ = false;
};

}  // namespace reweave
