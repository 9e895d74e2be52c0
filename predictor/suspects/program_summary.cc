#include "predictor/suspects/program_summary.h"

#include <cstring>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "formats/base/column.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

// Reads numbers and texts; throws Malformed at damage.
class Source : public ColumnReader {
 public:
  using ColumnReader::ColumnReader;

  std::int64_t distance() { return static_cast<std::int64_t>(unzigzag(varint())); }
  // A number below `end`.
  std::uint32_t index(std::uint64_t end) {
    if (end == 0) throw Malformed("a number is out of its range");
    return static_cast<std::uint32_t>(bounded(end - 1));
  }
  // The count of things of which each has at least a byte, so that it cannot be too large.
  std::uint32_t count() { return index(remaining() + 1); }
  std::string text() {
    const std::uint64_t length = varint();
    return {reinterpret_cast<const char*>(take(length)), length};
  }
};

class Linker {
 public:
  void add(std::string_view module);
  ProgramSummary take() { return std::move(program_); }

 private:
  void read_symbols(Source& from);
  std::uint32_t symbol_of(const std::string& name, unsigned flags);
  void read_places(Source& from);
  void read_function(Source& from);
  SummaryStep read_step(Source& from, std::uint32_t nodes);
  Operand read_operand(Source& from, std::uint32_t nodes);
  const std::string& read_text(Source& from) { return texts_[from.index(texts_.size())]; }

  ProgramSummary program_;
  std::unordered_map<std::string, std::uint32_t> named_;  // symbols that all modules share
  // These describe the module that is being read:
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> symbols_;  // of the program
  std::uint32_t first_place_ = 0, places_ = 0;
};

void Linker::add(std::string_view module) {
  Source from({reinterpret_cast<const std::uint8_t*>(module.data()), module.size()});
  texts_.clear();
  for (std::uint32_t left = from.count(); left > 0; left--) texts_.push_back(from.text());
  read_symbols(from);
  read_places(from);
  for (std::uint32_t left = from.count(); left > 0; left--) read_function(from);
  program_.modules++;
}

std::uint32_t Linker::symbol_of(const std::string& name, unsigned flags) {
  const auto next = static_cast<std::uint32_t>(program_.symbols.size());
  if ((flags & kInternalSymbol) == 0) {
    const auto [found, is_new] = named_.try_emplace(name, next);
    if (!is_new) return found->second;
  }
  program_.symbols.emplace_back().name = name;
  return next;
}

void Linker::read_symbols(Source& from) {
  symbols_.clear();
  const std::uint32_t count = from.count();
  // Pointers of initial values may name symbols that come later.
  std::vector<std::pair<std::uint32_t, SummarySymbol::Pointer>> pointers;
  for (std::uint32_t i = 0; i < count; i++) {
    const std::string& name = read_text(from);
    const auto flags = static_cast<std::uint8_t>(from.varint());
    const std::uint64_t bytes = from.varint();
    const std::uint32_t index = symbol_of(name, flags);
    symbols_.push_back(index);
    SummarySymbol& symbol = program_.symbols[index];
    const bool is_first = (symbol.flags & kDefinedSymbol) == 0;
    if (is_first) symbol.flags = flags, symbol.bytes = bytes;
    if ((flags & kFunctionSymbol) != 0 || (flags & kDefinedSymbol) == 0) continue;
    for (std::uint32_t left = from.count(); left > 0; left--) {
      SummarySymbol::Pointer pointer = {from.varint(), from.index(count), 0};
      pointer.offset = from.distance();
      // Each module has a list of constructors, under the same name.
      if (is_first || name == "llvm.global_ctors") pointers.emplace_back(index, pointer);
    }
    for (std::uint32_t left = from.count(); left > 0; left--) {
      const std::uint64_t at = from.varint();
      const std::string& member = read_text(from);
      if (is_first) symbol.members.push_back({at, member});
    }
    const std::string& file = read_text(from);
    const auto line = static_cast<std::uint32_t>(from.varint());
    if (is_first) symbol.file = file, symbol.line = line;
  }
  for (auto& [symbol, pointer] : pointers) {
    pointer.symbol = symbols_[pointer.symbol];
    program_.symbols[symbol].pointers.push_back(pointer);
  }
}

void Linker::read_places(Source& from) {
  first_place_ = static_cast<std::uint32_t>(program_.places.size());
  places_ = from.count();
  for (std::uint32_t i = 0; i < places_; i++) {
    SummaryPlace place;
    // clang writes /usr/bin/../lib/gcc/... for its own headers.
    place.file = std::filesystem::path(read_text(from)).lexically_normal().string();
    place.line = static_cast<std::uint32_t>(from.varint());
    place.function = read_text(from);
    const std::uint32_t outer = from.index(i + 1);  // an earlier one, so that there is no cycle
    place.outer = outer == 0 ? 0 : first_place_ + outer;
    program_.places.push_back(place);
  }
}

void Linker::read_function(Source& from) {
  SummaryFunction function;
  function.symbol = symbols_[from.index(symbols_.size())];
  // Each node is in some step, but for unused parameters.
  constexpr std::uint64_t kMostParameters = 4096;
  function.parameters = from.index(kMostParameters);
  function.nodes = from.index(from.remaining() + kMostParameters);
  if (function.parameters > function.nodes) throw Malformed("a function has too many parameters");
  const std::uint32_t blocks = from.count();
  for (std::uint32_t i = 0; i < blocks; i++) {
    SummaryBlock& block = function.blocks.emplace_back();
    for (std::uint32_t left = from.count(); left > 0; left--) block.next.push_back(from.index(blocks));
    for (std::uint32_t left = from.count(); left > 0; left--) block.steps.push_back(read_step(from, function.nodes));
  }
  SummarySymbol& named = program_.symbols[function.symbol];
  if (named.function != kNoNode || function.blocks.empty()) return;
  named.function = static_cast<std::uint32_t>(program_.functions.size());
  program_.functions.push_back(std::move(function));
}

Operand Linker::read_operand(Source& from, std::uint32_t nodes) {
  const std::uint64_t code = from.varint();
  if (code == 0) return {};
  const std::uint64_t index = (code - 1) / 3;
  const bool is_node = code % 3 == 1;
  if (index >= (is_node ? nodes : symbols_.size())) throw Malformed("there is no such operand");
  if (is_node) return {Operand::Kind::kNode, static_cast<std::uint32_t>(index), 0};
  return {Operand::Kind::kSymbol, symbols_[index], code % 3 == 0 ? from.distance() : 0};
}

// The parts that follow an operation, in this order.
struct StepForm {
  bool node, result, first, second, offset, arguments, bytes, flags, place;
};

constexpr StepForm kForms[] = {
    {},                                                              // no operation
    {true, false, true, false, false, false, false, false, false},   // kCopy
    {true, false, true, false, true, false, false, false, false},    // kField
    {true, false, true, true, true, false, false, false, false},     // kElement
    {true, false, false, false, false, false, true, false, true},    // kStackObject
    {false, true, true, false, false, false, true, true, true},      // kLoad
    {false, false, true, true, false, false, true, true, true},      // kStore
    {false, true, true, false, false, true, false, false, true},     // kCall
    {false, false, true, false, false, false, false, false, false},  // kReturn
    {false, false, true, true, false, false, true, false, true},     // kCopyBlock
    {false, false, true, false, false, false, true, false, true},    // kSetBlock
};
static_assert(std::size(kForms) == static_cast<std::size_t>(SummaryOp::kSetBlock) + 1);

SummaryStep Linker::read_step(Source& from, std::uint32_t nodes) {
  SummaryStep step;
  const std::uint32_t op = from.index(std::size(kForms));
  if (op == 0) throw Malformed("an operation is not known");
  const StepForm& form = kForms[op];
  step.op = static_cast<SummaryOp>(op);
  if (form.node) step.node = from.index(nodes);
  if (form.result) {
    const std::uint32_t node = from.index(std::uint64_t{nodes} + 1);
    step.node = node == 0 ? kNoNode : node - 1;
  }
  if (form.first) step.first = read_operand(from, nodes);
  if (form.second) step.second = read_operand(from, nodes);
  if (form.offset) step.offset = from.distance();
  if (form.arguments)
    for (std::uint32_t left = from.count(); left > 0; left--) step.arguments.push_back(read_operand(from, nodes));
  if (form.bytes) step.bytes = from.varint();
  if (form.flags) step.flags = static_cast<std::uint8_t>(from.varint());
  if (form.place) step.place = first_place_ + from.index(places_);
  return step;
}

}  // namespace

std::size_t SummaryFunction::steps() const {
  std::size_t all = 0;
  for (const SummaryBlock& block : blocks) all += block.steps.size();
  return all;
}

ProgramSummary link_summaries(const std::vector<std::string>& sections) {
  Linker linker;
  try {
    for (std::string_view rest : sections) {
      constexpr std::size_t kMagicBytes = sizeof kSummaryMagic - 1, kHead = kMagicBytes + 4;
      while (!rest.empty()) {
        if (rest.size() < kHead || !rest.starts_with(kSummaryMagic)) throw Malformed("it does not begin as one");
        std::uint32_t length = 0;
        std::memcpy(&length, rest.data() + kMagicBytes, sizeof length);
        if (length > rest.size() - kHead) throw Malformed("it ends early");
        linker.add(rest.substr(kHead, length));
        rest.remove_prefix(kHead + length);
      }
    }
  } catch (const Malformed& damage) {
    throw BadInput(
        fmt::format("the summary of a module is damaged, or of another version of reweave-cc: {}", damage.what()));
  }
  return linker.take();
}

}  // namespace reweave
