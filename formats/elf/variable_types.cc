#include "formats/elf/variable_types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <vector>

namespace reweave {

std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type, peeled;
  if (dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type) == nullptr) return {};
  if (dwarf_peel_type(&type, &peeled) != 0) return {};
  return peeled;
}

namespace {

// Debug information is hostile input, so the nesting is bounded.
constexpr int kMostDepth = 32;

std::string name_of(Dwarf_Die* die) {
  const char* name = dwarf_diename(die);
  return name == nullptr ? "" : name;
}

std::optional<Dwarf_Word> number_of(Dwarf_Die* die, unsigned int kind) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr_integrate(die, kind, &attribute), &value) != 0) return {};
  return value;
}

// The elements of each dimension; empty if one is not known.
std::vector<Dwarf_Word> dimensions_of(Dwarf_Die* array) {
  std::vector<Dwarf_Word> counts;
  Dwarf_Die child;
  if (dwarf_child(array, &child) != 0) return {};
  do {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    std::optional<Dwarf_Word> count = number_of(&child, DW_AT_count);
    if (const auto last = number_of(&child, DW_AT_upper_bound); !count && last) count = *last + 1;
    if (!count || *count == 0) return {};
    counts.push_back(*count);
  } while (dwarf_siblingof(&child, &child) == 0);
  return counts;
}

std::string path_in(Dwarf_Die type, std::uint64_t offset, int depth);

std::string path_in_array(Dwarf_Die* array, std::uint64_t offset, int depth) {
  std::optional<Dwarf_Die> element = type_of(array);
  Dwarf_Word bytes = 0;
  if (!element || dwarf_aggregate_size(&*element, &bytes) != 0 || bytes == 0) return "";
  const std::vector<Dwarf_Word> counts = dimensions_of(array);
  if (counts.empty()) return "";
  std::string path;
  std::uint64_t index = offset / bytes;
  for (std::size_t i = counts.size(); i-- > 1; index /= counts[i])
    path = "[" + std::to_string(index % counts[i]) + "]" + path;
  return "[" + std::to_string(index) + "]" + path + path_in(*element, offset % bytes, depth + 1);
}

std::string path_in_class(Dwarf_Die* type, std::uint64_t offset, int depth) {
  Dwarf_Die child;
  if (dwarf_child(type, &child) != 0) return "";
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    const bool in_union = dwarf_tag(type) == DW_TAG_union_type;
    const std::optional<Dwarf_Word> start = in_union ? 0 : number_of(&child, DW_AT_data_member_location);
    std::optional<Dwarf_Die> of = type_of(&child);
    Dwarf_Word bytes = 0;
    if (!start || !of || dwarf_aggregate_size(&*of, &bytes) != 0) continue;
    if (offset < *start || offset - *start >= bytes) continue;
    const std::string name = tag == DW_TAG_member ? name_of(&child) : "";
    if (name.starts_with('_')) return "";
    return (name.empty() ? "" : "." + name) + path_in(*of, offset - *start, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
  return "";
}

std::string path_in(Dwarf_Die type, std::uint64_t offset, int depth) {
  if (depth > kMostDepth) return "";
  switch (dwarf_tag(&type)) {
    case DW_TAG_array_type:
      return path_in_array(&type, offset, depth);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return path_in_class(&type, offset, depth);
    default:
      return "";
  }
}

std::optional<std::uint64_t> address_of(Dwarf_Die* variable) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_getlocation(dwarf_attr(variable, DW_AT_location, &attribute), &operations, &count) != 0) return {};
  if (count != 1 || operations[0].atom != DW_OP_addr) return {};
  return operations[0].number;
}

}  // namespace

std::string path_in_type(Dwarf_Die type, std::uint64_t offset) { return path_in(type, offset, 0); }

VariableTypes::VariableTypes(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) read(unit, bias, 0);
}

void VariableTypes::read(Dwarf_Die* parent, Dwarf_Addr bias, int depth) {
  Dwarf_Die child;
  if (depth > kMostDepth || dwarf_child(parent, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_namespace:
      case DW_TAG_subprogram:  // its static variables
      case DW_TAG_lexical_block:
        read(&child, bias, depth + 1);
        break;
      case DW_TAG_variable:
        if (const auto address = address_of(&child))
          if (const auto type = type_of(&child)) types_.emplace(*address + bias, *type);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::string VariableTypes::path_at(std::uint64_t address, std::uint64_t offset) {
  const auto found = types_.find(address);
  return found == types_.end() ? "" : path_in_type(found->second, offset);
}

}  // namespace reweave
