#include "replayer/live/live_variables.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "formats/elf/library_code.h"
#include "formats/elf/live_location.h"
#include "formats/elf/variable_types.h"

namespace reweave {

namespace {

constexpr std::size_t kMostThreads = 64;  // threads whose stacks are examined
constexpr int kMostDepth = 8;             // levels of namespaces

// Templates of the standard library that own the object that their first word points to.
struct OwnerRow {
  std::string_view name;  // beginning of the name
  bool many;              // owns an array, which ends where the second word points
};
constexpr OwnerRow kOwners[] = {{"unique_ptr<", false}, {"shared_ptr<", false}, {"vector<", true}};

const OwnerRow* owner_row(Dwarf_Die* type) {
  const char* name = dwarf_diename(type);
  if (name == nullptr || std::string_view(name).starts_with("vector<bool")) return nullptr;  // packed bits
  const auto row = std::ranges::find_if(
      kOwners, [&](const OwnerRow& each) { return std::string_view(name).starts_with(each.name); });
  return row == std::end(kOwners) ? nullptr : &*row;
}

std::optional<Dwarf_Die> first_template_argument(Dwarf_Die* type) {
  Dwarf_Die child;
  if (dwarf_child(type, &child) != 0) return {};
  do {
    if (dwarf_tag(&child) == DW_TAG_template_type_parameter) return type_of(&child);
  } while (dwarf_siblingof(&child, &child) == 0);
  return {};
}

std::uint64_t size_of(Dwarf_Die type) {
  Dwarf_Word bytes = 0;
  return dwarf_aggregate_size(&type, &bytes) == 0 ? bytes : 0;
}

bool is_function(Dwarf_Die* die) {
  return dwarf_tag(die) == DW_TAG_subprogram || dwarf_tag(die) == DW_TAG_inlined_subroutine;
}

bool is_variable(Dwarf_Die* die) {
  return dwarf_tag(die) == DW_TAG_variable || dwarf_tag(die) == DW_TAG_formal_parameter;
}

// True for libraries and for Reweave's own files. Decides by the module's path, because the sources of an installed
// library may have relative names.
bool is_of_others(Dwfl_Module* module) {
  const char* file = nullptr;
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
  const char* name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  const std::string_view path = file != nullptr ? file : name != nullptr ? name : "";
  return is_library_module(path) || is_of_reweave(path);
}

bool is_of_user(Dwarf_Die* die) {
  const char* file = dwarf_decl_file(die);
  return file != nullptr && !is_of_library(file);
}

}  // namespace

// A function, block, namespace or unit whose variables are examined, and the frame that has their values.
struct LiveVariables::Scope {
  Dwarf_Die die, function;
  LocationContext context;
};

struct LiveVariables::Variable {
  std::string name;
  Dwarf_Die type;
  VariableLocation location;
};

// The scopes of the user's functions in a frame, innermost first.
std::vector<LiveVariables::Scope> LiveVariables::scopes_of(const LiveFrame& frame) {
  std::vector<Scope> scopes;
  Dwfl_Module* module = frames_.module_at(frame.pc);
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = module == nullptr || is_of_others(module) ? nullptr : dwfl_module_addrdie(module, frame.pc, &bias);
  if (unit == nullptr) return scopes;
  LocationContext context;
  context.register_of = [&frame](unsigned number) {
    return number < kDwarfRegisters ? frame.registers[number] : std::nullopt;
  };
  context.word_at = [this](std::uint64_t address) {
    std::uint64_t word = 0;
    return process_.read(address, &word, sizeof word) ? std::optional(word) : std::nullopt;
  };
  context.pc = frame.pc - bias;
  context.cfa = frame.cfa;
  context.bias = bias;
  Dwarf_Die *innermost = nullptr, *dies = nullptr;
  const int found = dwarf_getscopes(unit, context.pc, &innermost);
  const int count = found > 0 ? dwarf_getscopes_die(&innermost[0], &dies) : 0;  // through the callers of inlined code
  for (int i = 0; i < count; i++) {
    const auto function = std::find_if(dies + i, dies + count, [](Dwarf_Die& die) { return is_function(&die); });
    const auto frame_of =
        std::find_if(dies + i, dies + count, [](Dwarf_Die& die) { return dwarf_tag(&die) == DW_TAG_subprogram; });
    if (function == dies + count || frame_of == dies + count || !is_of_user(function)) continue;
    scopes.push_back({dies[i], *frame_of, context});
  }
  std::free(innermost);
  std::free(dies);
  return scopes;
}

std::string LiveVariables::match_target(const Variable& variable, std::uint64_t target, std::uint64_t address) const {
  Dwarf_Die type = variable.type;
  const OwnerRow* owner = owner_row(&type);
  std::optional<Dwarf_Die> of = owner != nullptr ? first_template_argument(&type) : type_of(&type);
  const std::uint64_t bytes = of ? size_of(*of) : 0;
  if (bytes == 0 || target == 0 || address < target) return "";
  const std::uint64_t offset = address - target;
  if (owner != nullptr && owner->many) {
    std::uint64_t end = 0;
    if (!variable.location.in_memory || !process_.read(variable.location.value + sizeof end, &end, sizeof end) ||
        address >= end)
      return "";
    return variable.name + "[" + std::to_string(offset / bytes) + "]" + path_in_type(*of, offset % bytes);
  }
  if (offset >= bytes) return "";
  const std::string path = path_in_type(*of, offset);
  const int tag = dwarf_tag(&type);
  if (tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) return variable.name + path;
  if (path.starts_with('.')) return variable.name + "->" + path.substr(1);
  if (path.empty()) return offset == 0 ? "*" + variable.name : "";
  return "(*" + variable.name + ")" + path;
}

std::string LiveVariables::match(Variable& variable, std::uint64_t address) {
  const std::uint64_t place = variable.location.value;
  const bool in_memory = variable.location.in_memory;
  if (in_memory && place <= address && address - place < size_of(variable.type))
    return variable.name + path_in_type(variable.type, address - place);
  const int tag = dwarf_tag(&variable.type);
  const bool points = tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
                      tag == DW_TAG_rvalue_reference_type || owner_row(&variable.type) != nullptr;
  std::uint64_t target = place;
  if (owner_row(&variable.type) == nullptr && owners_only_) return "";
  if (!points || (in_memory && !process_.read(place, &target, sizeof target))) return "";
  const std::string name = match_target(variable, target, address);
  constexpr std::string_view kByThis = "this->";
  if (variable.name != "this") return name;
  Dwarf_Die type = variable.type;
  const std::optional<Dwarf_Die> of = type_of(&type);
  Dwarf_Die class_die = of.value_or(type);
  if (const char* class_name = dwarf_diename(&class_die);
      by_this_.empty() && class_name != nullptr && name.starts_with(kByThis))
    by_this_ = std::string(class_name) + "::" + name.substr(kByThis.size());
  return "";
}

std::string LiveVariables::name_in_children(const Scope& scope, std::uint64_t address, int depth) {
  Dwarf_Die child, die = scope.die, function = scope.function;
  if (dwarf_child(&die, &child) != 0) return "";
  do {
    if (dwarf_tag(&child) == DW_TAG_namespace && depth < kMostDepth) {
      const std::string name = name_in_children({child, function, scope.context}, address, depth + 1);
      if (!name.empty()) return name;
    }
    Dwarf_Attribute attribute;
    if (!is_variable(&child)) continue;
    const char* name =
        dwarf_attr_integrate(&child, DW_AT_name, &attribute) == nullptr ? nullptr : dwarf_formstring(&attribute);
    if (name == nullptr || name[0] == '_') continue;
    const std::optional<VariableLocation> location = location_of(&child, &function, scope.context);
    const std::optional<Dwarf_Die> type = location ? type_of(&child) : std::nullopt;
    if (!type) continue;
    Variable variable = {name, *type, *location};
    if (std::string found = match(variable, address); !found.empty()) return found;
  } while (dwarf_siblingof(&child, &child) == 0);
  return "";
}

std::string LiveVariables::name_in(const std::vector<LiveFrame>& frames, std::uint64_t address) {
  for (const LiveFrame& frame : frames)
    for (const Scope& scope : scopes_of(frame))
      if (std::string name = name_in_children(scope, address, 0); !name.empty()) return name;
  return "";
}

std::string LiveVariables::name_on_stack(std::uint64_t address, const std::vector<LiveFrame>& frames) {
  for (const LiveFrame& frame : frames)
    if (const auto low = frame.registers[kDwarfStackPointer]; low && *low <= address && address < frame.cfa)
      return name_in({frame}, address);
  return "";
}

std::string LiveVariables::name_by_globals(const std::vector<LiveFrame>& frames, std::uint64_t address) {
  std::set<Dwarf_Off> seen;
  for (const LiveFrame& frame : frames) {
    const std::vector<Scope> scopes = scopes_of(frame);
    if (scopes.empty()) continue;
    Scope unit = scopes.back();
    if (dwarf_diecu(&unit.function, &unit.die, nullptr, nullptr) == nullptr) continue;
    if (!seen.insert(dwarf_dieoffset(&unit.die)).second) continue;
    if (std::string name = name_in_children(unit, address, 0); !name.empty()) return name;
  }
  return "";
}

std::string LiveVariables::name_of(std::uint64_t address, pid_t viewer) {
  by_this_.clear();
  std::vector<pid_t> lwps = process_.lwps();
  if (lwps.size() > kMostThreads) lwps.resize(kMostThreads);
  std::erase(lwps, viewer);
  lwps.insert(lwps.begin(), viewer);
  std::vector<std::vector<LiveFrame>> stacks;
  for (const pid_t lwp : lwps) stacks.push_back(frames_.of(lwp));
  std::string name;
  for (const auto& frames : stacks)
    if (name.empty()) name = name_on_stack(address, frames);
  // Owners come first: an owner gives the object the same name in all threads, while each thread may have other
  // pointers and references to it.
  owners_only_ = true;
  for (const auto& frames : stacks)
    if (name.empty()) name = name_in(frames, address);
  owners_only_ = false;
  if (name.empty()) name = name_by_globals(stacks.front(), address);
  if (name.empty()) name = name_in(stacks.front(), address);
  for (std::size_t i = 1; i < stacks.size() && name.empty(); i++) name = name_in(stacks[i], address);
  return name.empty() ? by_this_ : name;
}

}  // namespace reweave
