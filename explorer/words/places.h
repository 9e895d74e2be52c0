// Names for places of a recorded program: code and global variables, by their addresses in the target.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/elf/symbols.h"
#include "formats/recording/recorded_files.h"

namespace reweave {

// One function of a call stack.
struct CodeFrame {
  std::string text;         // in the form of Places::code()
  std::string function;     // its short name; empty if unknown
  bool of_library = false;  // not the user's code: the standard library, a test framework, the C library
};

// "function (file.c:12)".
std::string frame_text(const SourceFrame& frame);

class Places {
 public:
  explicit Places(const std::string& recording);

  // Returns "function (file.c:12)" for a return address, or "0x1234" if nothing is known. Where functions are inlined,
  // it names the innermost one that is not library code.
  std::string code(std::uint64_t pc);
  // Returns the function at `pc` and the functions that it is inlined into, innermost first. Empty for Reweave's own
  // libraries.
  std::vector<CodeFrame> frames(std::uint64_t pc);
  // The short name of the function that code() names; the text of code() if none is known.
  std::string function(std::uint64_t pc);
  // The function, file and line that code() names; null if none are known.
  const SourceFrame* source(std::uint64_t pc) { return frame(pc); }
  // True if code() names a function of the user's: its source is known, and not a library's.
  bool is_own(std::uint64_t pc);
  // The user's functions at `pc`, innermost first: the function of the code itself and those that it is inlined into.
  std::vector<SourceFrame> own_frames(std::uint64_t pc);
  // All functions at `pc`, innermost first, with their full names. Empty for Reweave's own libraries.
  std::vector<SourceFrame> all_frames(std::uint64_t pc);
  // The type that the call of an allocator that returns to `pc` allocates (formats/elf/allocated_type.h); empty if
  // unknown.
  std::string type_allocated_at(std::uint64_t pc, std::uint64_t bytes);
  // The text of the source line of `pc`; empty if it cannot be read.
  std::string source_line(std::uint64_t pc);
  // True for code of the program itself, not of a library. If the run executed several programs: of any of them.
  bool in_program(std::uint64_t pc) const;
  // The entry address of the programs' function of that name. Throws BadInput if there is none, or several.
  std::uint64_t address_of(const std::string& function);
  struct Code {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  // Returns all code ranges of `function`, including inlined copies. `function` is named as by source(), or without
  // parameters. Searches the programs first, then the libraries; the first one that has the function counts.
  std::vector<Code> code_of(const std::string& function);
  // The name of the function that the call instruction in `code` at `address` calls; empty if it is not known.
  std::string callee(std::uint64_t address, std::span<const std::uint8_t> code);
  // True if Reweave's own libraries, which are loaded into the program, define a function of that name.
  bool is_taken_over(const std::string& function);
  // "program+0x1234"; empty for an address of no file.
  std::string module_offset(std::uint64_t pc) const;
  // The inverse. Throws BadInput if there is no such file.
  std::uint64_t address_in(const std::string& module, std::uint64_t offset) const;

  // "name", "name+8"; "memory at 0x1234" if it is not a global variable.
  std::string object(std::uint64_t address);
  bool is_global(std::uint64_t address) { return !data(address).name.empty(); }

 private:
  struct Module {
    std::uint64_t base, start, end;
    std::string path, build_id;
    bool is_program;
    std::optional<std::map<std::uint64_t, std::string>> imports = {};  // by slot; read when first needed
  };
  // Null for an address of no file, and for one that has been in different files, at different times or in different
  // processes: it does not identify the place.
  const Module* module_at(std::uint64_t address) const;
  DataSymbol data(std::uint64_t address);
  const CodeSymbol* symbol(std::uint64_t pc);
  // Null if the source is unknown.
  const SourceFrame* frame(std::uint64_t pc);

  RecordedFiles files_;
  std::vector<Module> modules_;                      // programs first; each once
  std::optional<std::set<std::string>> taken_over_;  // read when first needed
  Symbols symbols_;
};

}  // namespace reweave
