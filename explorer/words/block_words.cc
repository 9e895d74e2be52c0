#include "explorer/words/block_words.h"

#include <fmt/format.h>

#include <string_view>

#include "formats/base/counted.h"
#include "formats/elf/function_names.h"

namespace reweave {

namespace {

// Functions and classes whose first template argument is the type of the object.
constexpr std::string_view kMakers[] = {"std::make_unique<", "std::make_shared<"};
constexpr std::string_view kNodes[] = {"std::_Sp_counted_ptr_inplace<", "std::_List_node<", "std::_Fwd_list_node<"};
constexpr std::string_view kAllocators[] = {"std::__new_allocator<", "__gnu_cxx::new_allocator<"};
constexpr std::size_t kMostCharacters = 60;

// The template argument that begins at `at`, up to the next comma or the closing bracket.
std::string argument_at(const std::string& text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); i++) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || c == '>'))
      return std::string(text.substr(at, i - at - (text[i - 1] == ' ' ? 1 : 0)));
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
  }
  return "";
}

// The first argument of the first of `templates` that is in `text`; empty if there is none.
template <std::size_t kCount>
std::string argument_of(const std::string& text, const std::string_view (&templates)[kCount]) {
  for (const std::string_view name : templates)
    if (const std::size_t at = text.find(name); at != text.npos) return argument_at(text, at + name.size());
  return "";
}

// A type as a reader says it; empty for the types of the library, which would not help.
std::string readable_type(const std::string& type) {
  const bool is_of_library = type.starts_with("std::") || type.starts_with("__") || type.ends_with(']');
  if (type.empty() || is_of_library) return "";
  const std::string name = type.ends_with('*') ? type : short_name(type);
  return name.size() > kMostCharacters ? "" : name;
}

// The type of the block, from the functions of libraries up to the first one of the user's.
std::string type_of_block(std::uint64_t bytes, const std::vector<std::uint64_t>& allocated, Places& places) {
  std::string type;
  for (const std::uint64_t pc : allocated) {
    for (const SourceFrame& frame : places.all_frames(pc))
      if (const std::string found = type_allocated_by(frame.function); !found.empty()) type = found;
    if (places.is_own(pc)) return type.empty() ? places.type_allocated_at(pc, bytes) : type;
  }
  return type;
}

}  // namespace

std::string type_allocated_by(const std::string& function) {
  if (const std::string type = readable_type(argument_of(function, kMakers)); !type.empty()) return type;
  const std::string element = argument_of(function, kAllocators);
  if (element.empty()) return "";
  if (const std::string type = readable_type(argument_of(element, kNodes)); !type.empty()) return type;
  const std::string type = readable_type(element);
  return type.empty() ? "" : "array of " + type;
}

std::string block_words(std::uint64_t bytes, const std::vector<std::uint64_t>& allocated, Places& places) {
  std::string by;
  for (const std::uint64_t pc : allocated)
    if (by.empty() && places.is_own(pc)) by = fmt::format(" that {} allocated", places.code(pc));
  for (const std::uint64_t pc : allocated)  // programs without debug information
    if (by.empty() && places.in_program(pc)) by = fmt::format(" that {} allocated", places.code(pc));
  const std::string type = type_of_block(bytes, allocated, places);
  return "the " + (type.empty() ? "block of " + counted(bytes, "byte") : type) + by;
}

}  // namespace reweave
