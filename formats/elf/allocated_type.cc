#include "formats/elf/allocated_type.h"

#include <dwarf.h>

#include <cstdlib>
#include <optional>
#include <set>

#include "formats/elf/variable_types.h"

namespace reweave {

namespace {

constexpr int kMostDepth = 32;  // debug information is hostile input

// A name without template arguments.
std::string plain_name(Dwarf_Die* die) {
  const char* name = dwarf_diename(die);
  const std::string text = name == nullptr ? "" : name;
  return text.substr(0, text.find('<'));
}

bool is_class(Dwarf_Die* die) { return dwarf_tag(die) == DW_TAG_class_type || dwarf_tag(die) == DW_TAG_structure_type; }

bool has_size(Dwarf_Die* type, std::uint64_t bytes) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(type, &size) == 0 && size == bytes;
}

// The scopes that contain `die`, from itself outward.
template <typename Visit>
void visit_scopes(Dwarf_Die* die, const Visit& visit) {
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(die, &scopes);
  for (int i = 0; i < count; i++) visit(i, &scopes[i]);
  std::free(scopes);
}

// With the namespaces and classes around it: "net::Route".
std::string full_name(Dwarf_Die* type) {
  std::string name;
  visit_scopes(type, [&](int, Dwarf_Die* scope) {
    const bool names = is_class(scope) || dwarf_tag(scope) == DW_TAG_namespace;
    if (const std::string part = names ? plain_name(scope) : ""; !part.empty())
      name = name.empty() ? part : part + "::" + name;
  });
  return name;
}

std::uint64_t number_of(Dwarf_Die* die, unsigned kind) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr_integrate(die, kind, &attribute), &value) == 0 ? value : 0;
}

// The declaration that an instance of a function refers to.
Dwarf_Die declaration_of(Dwarf_Die die) {
  for (int depth = 0; depth < kMostDepth; depth++) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    const bool refers = dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &next) != nullptr ||
                        dwarf_formref_die(dwarf_attr(&die, DW_AT_specification, &attribute), &next) != nullptr;
    if (!refers) break;
    die = next;
  }
  return die;
}

// Collects the types that the statement on `line` may allocate.
class Statement {
 public:
  Statement(Dwarf_Die* unit, int line, std::uint64_t bytes) : unit_(unit), line_(line), bytes_(bytes) {}

  void read(Dwarf_Die* parent, int depth = 0) {
    Dwarf_Die die;
    if (depth == kMostDepth || dwarf_child(parent, &die) != 0) return;
    do {
      switch (dwarf_tag(&die)) {
        case DW_TAG_lexical_block:
          read(&die, depth + 1);
          break;
        case DW_TAG_inlined_subroutine:
          if (number_of(&die, DW_AT_call_line) == static_cast<std::uint64_t>(line_)) add_constructor(die);
          break;
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
          if (is_on_line(&die)) add_callee(&die);
          break;
        case DW_TAG_variable:
          add_pointer(&die);
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&die, &die) == 0);
  }

  std::string type() const {
    const std::set<std::string>& names = constructed_.empty() ? pointed_to_ : constructed_;
    return names.size() == 1 ? *names.begin() : "";
  }

 private:
  bool is_on_line(Dwarf_Die* call) const {
    Dwarf_Attribute attribute;
    Dwarf_Addr back = 0;
    int line = 0;
    const bool known = dwarf_formaddr(dwarf_attr(call, DW_AT_call_return_pc, &attribute), &back) == 0 ||
                       dwarf_formaddr(dwarf_attr(call, DW_AT_low_pc, &attribute), &back) == 0;
    return known && dwarf_lineno(dwarf_getsrc_die(unit_, back - 1), &line) == 0 && line == line_;
  }
  void add_callee(Dwarf_Die* call) {
    Dwarf_Attribute attribute;
    Dwarf_Die callee;
    if (dwarf_formref_die(dwarf_attr(call, DW_AT_call_origin, &attribute), &callee) != nullptr ||
        dwarf_formref_die(dwarf_attr(call, DW_AT_abstract_origin, &attribute), &callee) != nullptr)
      add_constructor(callee);
  }
  void add_constructor(const Dwarf_Die& function) {
    Dwarf_Die declaration = declaration_of(function);
    const std::string name = plain_name(&declaration);
    visit_scopes(&declaration, [&](int i, Dwarf_Die* scope) {
      if (i == 1 && is_class(scope) && plain_name(scope) == name && has_size(scope, bytes_))
        constructed_.insert(full_name(scope));
    });
  }
  void add_pointer(Dwarf_Die* variable) {
    int line = 0;
    if (dwarf_decl_line(variable, &line) != 0 || line != line_) return;
    std::optional<Dwarf_Die> type = type_of(variable);
    if (!type || dwarf_tag(&*type) != DW_TAG_pointer_type) return;
    std::optional<Dwarf_Die> target = type_of(&*type);
    if (target && is_class(&*target) && has_size(&*target, bytes_)) pointed_to_.insert(full_name(&*target));
  }

  Dwarf_Die* unit_;
  int line_;
  std::uint64_t bytes_;
  std::set<std::string> constructed_, pointed_to_;
};

}  // namespace

std::string allocated_type(Dwarf_Die* unit, Dwarf_Addr address, std::uint64_t bytes) {
  int line = 0;
  if (dwarf_lineno(dwarf_getsrc_die(unit, address), &line) != 0) return "";
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, address, &scopes);
  Statement statement(unit, line, bytes);
  for (int i = 0; i < count; i++) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
    statement.read(&scopes[i]);
    break;
  }
  std::free(scopes);
  return statement.type();
}

}  // namespace reweave
