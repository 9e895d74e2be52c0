// Names for the places of a recorded program: code and global variables by their addresses in the target.
#pragma once

#include <string>
#include <vector>

#include "formats/symbols.h"

namespace reweave {

class Places {
 public:
  explicit Places(const std::string& recording);

  // "function (file.c:12)" of a return address; "0x1234" if nothing is known. Of inlined functions the innermost that
  // is not a library's.
  std::string code(std::uint64_t pc);
  // The same with what it is inlined into, innermost first. None for what is ours.
  std::vector<std::string> frames(std::uint64_t pc);
  // The function that code() names; what code() says if none is known.
  std::string function(std::uint64_t pc);
  // The function, file and line that code() names; null if none are known.
  const SourceFrame* source(std::uint64_t pc) { return frame(pc); }
  // The text of that source line; empty if it cannot be read.
  std::string source_line(std::uint64_t pc);
  // Of the program itself, not of a library.
  bool in_program(std::uint64_t pc) const { return !modules_.empty() && module_at(pc) == modules_.data(); }
  // Where the program's function of that name begins. Throws BadInput if it has none, or several.
  std::uint64_t address_of(const std::string& function);
  // "name", "name+8"; "memory at 0x1234" if it is no global variable.
  std::string object(std::uint64_t address);

 private:
  struct Module {
    std::uint64_t base, start, end;
    std::string path, build_id;
  };
  const Module* module_at(std::uint64_t address) const;
  const CodeSymbol* symbol(std::uint64_t pc);
  // Null if the source is not known.
  const SourceFrame* frame(std::uint64_t pc);

  std::vector<Module> modules_;
  Symbols symbols_;
};

}  // namespace reweave
