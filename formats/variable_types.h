// What lies where in a global variable, by the debug information: members of structures, elements of arrays.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <string>

namespace reweave {

class VariableTypes {
 public:
  // Reads the global variables of the module's units, those of namespaces and classes among them.
  explicit VariableTypes(Dwfl_Module* module);

  // The innermost named object `offset` bytes into the variable at `address` (as the module is loaded): "[1].money".
  // Names that begin with an underscore belong to whoever implements a library, and are left out with what is in them.
  // Empty: the variable is not known, or is one object.
  std::string path_at(std::uint64_t address, std::uint64_t offset);

 private:
  void read(Dwarf_Die* parent, Dwarf_Addr bias, int depth);

  std::map<std::uint64_t, Dwarf_Die> types_;  // of variables, by address
};

}  // namespace reweave
