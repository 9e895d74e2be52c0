// Names the parts of global variables (members of structures, elements of arrays) from debug information.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace reweave {

// The path to the innermost named part `offset` bytes into an object of `type`, such as "[1].money"; empty for the
// object itself. Members whose names begin with an underscore are internals of a library; they are left out, with
// everything in them.
std::string path_in_type(Dwarf_Die type, std::uint64_t offset);
// The type of a variable, a member or a pointer's target, without qualifiers and typedefs. Nothing for void.
std::optional<Dwarf_Die> type_of(Dwarf_Die* die);

class VariableTypes {
 public:
  // Reads the global variables of the module's units, including those in namespaces and classes.
  explicit VariableTypes(Dwfl_Module* module);

  // path_in_type of the variable at `address` (as the module is loaded). Empty also if the variable is unknown.
  std::string path_at(std::uint64_t address, std::uint64_t offset);

 private:
  void read(Dwarf_Die* parent, Dwarf_Addr bias, int depth);

  std::map<std::uint64_t, Dwarf_Die> types_;  // of variables, by address
};

}  // namespace reweave
