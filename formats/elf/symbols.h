// Names for addresses of recorded programs, offline: code to function, file and line with inlined calls; data to
// global variables. From ELF symbols and DWARF, with libdw.
//
// An address is given as (module path, build id, offset): the offset is the address in the ELF file, that is, without
// the load bias. A missing file, one that is not the recorded file (its build-id differs), or missing debug information
// gives a poorer result, never an error: at worst "module+0x1234". Results are cached. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/base/fd.h"

namespace reweave {

struct SourceFrame {
  std::string function;  // demangled; empty if unknown
  std::string file;      // empty if unknown
  int line = 0;
};

struct CodeSymbol {
  std::vector<SourceFrame> frames;  // innermost first, then the functions it was inlined into; empty if unknown
  std::string fallback;             // "module+0x1234"

  // "function at file:line" of the innermost frame, or the fallback.
  std::string text() const;
};

struct DataSymbol {
  std::string name;  // demangled; empty if there is no variable
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string path;  // element or member at the offset: "[1].money"; empty for the whole variable, or if unknown

  // "accounts[1].money", or "accounts+40".
  std::string text() const;
};

// Addresses in the ELF file.
struct CodeRange {
  std::uint64_t start, end;
};

// Supplies files that are not at their original paths.
struct SymbolFiles {
  // Opens the file for a module's path; not open if it cannot be read. If this function is empty, the regular file at
  // the path itself is used.
  std::function<Fd(const std::string& path)> module;
  // Opens separate debug information for a build-id in hex; not open if there is none. In that case, or if this
  // function is empty, the system's debug information is searched.
  std::function<Fd(const std::string& build_id)> debug;
};

class Symbols {
 public:
  explicit Symbols(SymbolFiles files = {});
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The code at `offset`. `is_return_address`: describes the instruction before it (true for sites of traces).
  const CodeSymbol& code(const std::string& path, const std::string& build_id, std::uint64_t offset,
                         bool is_return_address = true);

  // The entry addresses of the functions named `name`, in file order. The name may be the linker's, or in C++ the
  // demangled one with or without parameters ("ns::f(int)", "ns::f").
  std::vector<std::uint64_t> functions(const std::string& path, const std::string& build_id, const std::string& name);

  // The code of the functions named `function`, including inlined copies, from debug information. `function` is a name
  // as in CodeSymbol, with or without parameters.
  std::vector<CodeRange> code_of(const std::string& path, const std::string& build_id, const std::string& function);

  // The type that the call of an allocator before `offset` allocates (formats/elf/allocated_type.h); empty if unknown.
  std::string allocated_type(const std::string& path, const std::string& build_id, std::uint64_t offset,
                             std::uint64_t bytes);

  // The global variable at `offset`.
  DataSymbol data(const std::string& path, const std::string& build_id, std::uint64_t offset);

 private:
  class Module;
  Module& module(const std::string& path, const std::string& build_id);

  SymbolFiles files_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Module>> modules_;
};

}  // namespace reweave
