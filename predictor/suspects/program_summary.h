// The summaries of all modules of a program, linked: what the static analysis knows about it
// (formats/code/summary_format.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/code/summary_format.h"

namespace reweave {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

// True for steps whose result leads into the same object as their operand. They have no place.
constexpr bool passes_pointer(SummaryOp op) {
  return op == SummaryOp::kCopy || op == SummaryOp::kField || op == SummaryOp::kElement;
}

struct Operand {
  enum class Kind : std::uint8_t { kNothing, kNode, kSymbol };
  Kind kind = Kind::kNothing;
  std::uint32_t index = 0;  // of a node of the function, or of a symbol of the program
  std::int64_t offset = 0;  // within the symbol
};

struct SummaryStep {
  SummaryOp op;
  std::uint8_t flags = 0;        // AccessFlags
  std::uint32_t node = kNoNode;  // that receives the result
  std::uint32_t place = 0;
  std::uint64_t bytes = 0;
  std::int64_t offset = 0;
  Operand first, second;  // address and value or index, destination and source, or the called function
  std::vector<Operand> arguments;
};

struct SummaryBlock {
  std::vector<std::uint32_t> next;
  std::vector<SummaryStep> steps;
};

struct SummaryFunction {
  std::uint32_t symbol = 0;
  std::uint32_t parameters = 0, nodes = 0;
  std::vector<SummaryBlock> blocks;  // the first is where it begins

  std::size_t steps() const;
};

struct SummarySymbol {
  std::string name;
  std::uint8_t flags = 0;  // SymbolFlags
  std::uint64_t bytes = 0;
  struct Pointer {
    std::uint64_t at;
    std::uint32_t symbol;
    std::int64_t offset;
  };
  struct Member {
    std::uint64_t at;
    std::string name;
  };
  std::vector<Pointer> pointers;  // in its initial value
  std::vector<Member> members;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t function = kNoNode;  // index of its definition
};

struct SummaryPlace {
  std::string file, function;
  std::uint32_t line = 0;
  std::uint32_t outer = 0;  // the place of the call that it is inlined at, plus 1; 0: none
};

struct ProgramSummary {
  std::vector<SummarySymbol> symbols;
  std::vector<SummaryPlace> places;
  std::vector<SummaryFunction> functions;
  std::uint64_t modules = 0;
};

// Links the modules in `sections`, the contents of the sections of a program and its libraries. Of several definitions
// of a name the first counts, as for the linker. Throws BadInput at damage.
ProgramSummary link_summaries(const std::vector<std::string>& sections);

// Puts the bodies of small functions in place of calls of them, so that the analysis can tell their callers apart.
void inline_small_functions(ProgramSummary& program);

}  // namespace reweave
