#include "predictor/suspects/object_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "formats/elf/debug_names.h"
#include "formats/elf/function_names.h"
#include "formats/elf/library_code.h"

namespace reweave {

bool is_user_file(const std::string& file) { return !file.empty() && !is_of_library(file); }

std::optional<std::uint32_t> user_place(const ProgramSummary& program, std::uint32_t place) {
  while (!is_user_file(program.places[place].file)) {
    if (program.places[place].outer == 0) return std::nullopt;
    place = program.places[place].outer - 1;
  }
  return place;
}

namespace {

std::string place_text(const ProgramSummary& program, std::uint32_t place) {
  const SummaryPlace& at = program.places[user_place(program, place).value_or(place)];
  const std::string function = short_name(demangle(at.function.c_str()));
  if (at.line == 0) return function;
  return fmt::format("{} ({}:{})", function, std::filesystem::path(at.file).filename().string(), at.line);
}

// The member at the offset, or the last one before it.
std::string member_name(const SummarySymbol& symbol, std::uint64_t offset) {
  const SummarySymbol::Member* found = nullptr;
  for (const SummarySymbol::Member& member : symbol.members)
    if (member.at <= offset && (found == nullptr || member.at >= found->at)) found = &member;
  if (found == nullptr) return "";
  // Members that begin with _ belong to a library's type: the user's name is enough.
  return found->name.substr(0, std::min(found->name.find("._"), found->name.find("[]._")));
}

// The user's name of a variable, without marks of the compiler.
std::string variable_name(const std::string& name) {
  std::string text = demangle(name.c_str());
  if (const std::size_t mark = text.find("[abi:"); mark != text.npos) text.erase(mark, text.find(']', mark) + 1 - mark);
  return text;
}

}  // namespace

std::string object_name(const ProgramSummary& program, const PointsTo& points_to, std::uint32_t number,
                        std::optional<std::uint64_t> offset) {
  const MemoryObject& object = points_to.objects()[number];
  const std::string distance = offset.value_or(0) == 0 ? "" : fmt::format("+{}", *offset);
  switch (object.kind) {
    case MemoryObject::Kind::kVariable: {
      const SummarySymbol& symbol = program.symbols[object.symbol];
      const std::string member = offset ? member_name(symbol, *offset) : "";
      return variable_name(symbol.name) + (symbol.members.empty() ? distance : member);
    }
    case MemoryObject::Kind::kFunction:
      return demangle(program.symbols[object.symbol].name.c_str());
    case MemoryObject::Kind::kStack:
      return fmt::format("a variable of {}{}", place_text(program, object.place), distance);
    case MemoryObject::Kind::kHeap:
      return fmt::format("a block that {} allocates{}", place_text(program, object.place), distance);
    case MemoryObject::Kind::kThread:
      break;
  }
  return "a thread that " + place_text(program, object.place) + " starts";
}

std::string thread_name(const ProgramSummary& program, const PointsTo& points_to, const ThreadKind& kind) {
  if (kind.function == kNoNode) return "main";
  const std::string name = short_name(demangle(program.symbols[program.functions[kind.function].symbol].name.c_str()));
  if (!name.starts_with("std::thread::") || kind.starts.empty()) return name;
  const std::uint32_t place = points_to.starts()[*kind.starts.begin()].step->place;
  return user_place(program, place) ? "the std::thread of " + place_text(program, place) : "std::thread";
}

}  // namespace reweave
