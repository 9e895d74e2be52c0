#include "formats/elf/debug_names.h"

#include <cxxabi.h>
#include <dwarf.h>

#include <cstdlib>
#include <string_view>

namespace reweave {

std::string demangle(const char* name) {
  if (name == nullptr) return "";
  if (name[0] != '_' || name[1] != 'Z') return name;  // C: "v" is a variable, not void
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string without_parameters(const std::string& name) {
  if (name.ends_with(']')) return name;
  std::size_t at = name.rfind(')');
  if (at == name.npos) return name;
  for (int open = 1; open > 0 && at > 0;) {
    at--;
    open += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
  }
  return name.substr(0, at);
}

namespace {

// The DIE of which this one is an instance or the definition; itself if there is none.
Dwarf_Die origin_of(Dwarf_Die die) {
  for (unsigned int kind : {DW_AT_abstract_origin, DW_AT_specification}) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (dwarf_attr(&die, kind, &attribute) != nullptr && dwarf_formref_die(&attribute, &origin) != nullptr)
      die = origin;
  }
  return die;
}

// Names the operator() of a class within a function: a lambda, whose operator has no name for the linker.
std::string name_of_lambda(Dwarf_Die* die) {
  Dwarf_Die declared = origin_of(*die);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&declared, &scopes);
  std::string name = "operator()";
  for (int i = 1; i < count; ++i) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram) continue;
    name = function_name(&scopes[i]) + "::{lambda}";
    break;
  }
  std::free(scopes);
  return name;
}

}  // namespace

std::string function_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (unsigned int kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(die, kind, &attribute) != nullptr) return demangle(dwarf_formstring(&attribute));
  }
  if (dwarf_attr_integrate(die, DW_AT_name, &attribute) == nullptr) return "";
  const char* name = dwarf_formstring(&attribute);
  if (name == nullptr) return "";
  return std::string_view(name) == "operator()" ? name_of_lambda(die) : name;
}

}  // namespace reweave
