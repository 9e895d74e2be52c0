// Names for addresses of recorded programs, offline: code to function, file and line with inlined calls; data to
// global variables. From ELF symbols and DWARF, with libdw.
//
// An address is given as (module path, build id, offset): offset is the address as the ELF file has it, that is, minus
// the load bias. A file that is missing, or is not the one that was recorded (its build id differs), and missing debug
// information give less, never an error: at worst "module+0x1234". Results are cached. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/fd.h"

namespace reweave {

struct SourceFrame {
  std::string function;  // demangled; empty if unknown
  std::string file;      // empty if unknown
  int line = 0;
};

struct CodeSymbol {
  std::vector<SourceFrame> frames;  // innermost first, the callers it was inlined into after it; empty if unknown
  std::string fallback;             // "module+0x1234"

  // "function at file:line" of the innermost frame, or the fallback.
  std::string text() const;
};

struct DataSymbol {
  std::string name;  // demangled; empty if no variable is there
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string path;  // what lies at the offset: "[1].money"; empty if it is the variable itself, or is not known

  // "accounts[1].money", or "accounts+40".
  std::string text() const;
};

// Where the files are, if not where they were.
struct SymbolFiles {
  // The file of a module's path, not open if it cannot be read; none: the regular file at the path itself.
  std::function<Fd(const std::string& path)> module;
  // Separate debug information for a build-id in hex, not open if there is none: then, or if this is none, the system's
  // is looked for.
  std::function<Fd(const std::string& build_id)> debug;
};

class Symbols {
 public:
  explicit Symbols(SymbolFiles files = {});
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The code at `offset`. `is_return_address`: the instruction meant is the one before (sites of traces are so).
  const CodeSymbol& code(const std::string& path, const std::string& build_id, std::uint64_t offset,
                         bool is_return_address = true);

  // Where the functions of that name begin, in the order of the file: as linked, or in C++ with or without its
  // parameters ("ns::f(int)", "ns::f").
  std::vector<std::uint64_t> functions(const std::string& path, const std::string& build_id, const std::string& name);

  // The global variable at `offset`.
  DataSymbol data(const std::string& path, const std::string& build_id, std::uint64_t offset);

 private:
  class Module;
  Module& module(const std::string& path, const std::string& build_id);

  SymbolFiles files_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Module>> modules_;
};

}  // namespace reweave
