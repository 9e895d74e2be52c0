#include "predictor/suspects/program_summary.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "formats/base/error.h"

namespace reweave {

namespace {

// Reads numbers and texts; throws BadInput at the end of the bytes.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw BadInput("the summary of a module is damaged: a number is too long");
  }

  std::int64_t distance() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

  // A number below `end`.
  std::uint32_t index(std::uint64_t end) {
    const std::uint64_t value = number();
    REQUIRE(value < end, "the summary of a module is damaged: {} is not below {}", value, end);
    return static_cast<std::uint32_t>(value);
  }

  // The count of things of which each has at least a byte, so that it cannot be too large.
  std::uint32_t count() { return index(bytes_.size() + 1); }

  std::size_t left() const { return bytes_.size(); }

  std::string_view take(std::uint64_t length) {
    REQUIRE(length <= bytes_.size(), "the summary of a module is damaged: it ends early");
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

 private:
  std::string_view bytes_;
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
  Source from(module);
  texts_.clear();
  for (std::uint32_t left = from.count(); left > 0; left--) texts_.emplace_back(from.take(from.number()));
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
    const auto flags = static_cast<std::uint8_t>(from.number());
    const std::uint64_t bytes = from.number();
    const std::uint32_t index = symbol_of(name, flags);
    symbols_.push_back(index);
    SummarySymbol& symbol = program_.symbols[index];
    const bool is_first = (symbol.flags & kDefinedSymbol) == 0;
    if (is_first) symbol.flags = flags, symbol.bytes = bytes;
    if ((flags & kFunctionSymbol) != 0 || (flags & kDefinedSymbol) == 0) continue;
    for (std::uint32_t left = from.count(); left > 0; left--) {
      SummarySymbol::Pointer pointer = {from.number(), from.index(count), 0};
      pointer.offset = from.distance();
      // Each module has a list of constructors, under the same name.
      if (is_first || name == "llvm.global_ctors") pointers.emplace_back(index, pointer);
    }
    for (std::uint32_t left = from.count(); left > 0; left--) {
      const std::uint64_t at = from.number();
      const std::string& member = read_text(from);
      if (is_first) symbol.members.push_back({at, member});
    }
    const std::string& file = read_text(from);
    const auto line = static_cast<std::uint32_t>(from.number());
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
    place.file = read_text(from);
    place.line = static_cast<std::uint32_t>(from.number());
    place.function = read_text(from);
    const std::uint32_t outer = from.index(i + 1);  // an earlier one, so that there is no cycle
    place.outer = outer == 0 ? 0 : first_place_ + outer;
    program_.places.push_back(place);
  }
}

void Linker::read_function(Source& from) {
  SummaryFunction function;
  function.symbol = symbols_.empty() ? 0 : symbols_[from.index(symbols_.size())];
  // Each node is in some step, but for unused parameters.
  constexpr std::uint64_t kMostParameters = 4096;
  function.parameters = from.index(kMostParameters);
  function.nodes = from.index(from.left() + kMostParameters);
  REQUIRE(!symbols_.empty() && function.parameters <= function.nodes,
          "the summary of a module is damaged: a function has no name or too many parameters");
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
  const std::uint64_t code = from.number();
  if (code == 0) return {};
  const std::uint64_t index = (code - 1) / 3;
  const bool is_node = code % 3 == 1;
  REQUIRE(index < (is_node ? nodes : symbols_.size()), "the summary of a module is damaged: no such operand");
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
  REQUIRE(op != 0, "the summary of a module is damaged: an operation is not known");
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
  if (form.bytes) step.bytes = from.number();
  if (form.flags) step.flags = static_cast<std::uint8_t>(from.number());
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
  for (std::string_view rest : sections) {
    constexpr std::size_t kMagicBytes = sizeof kSummaryMagic - 1, kHead = kMagicBytes + 4;
    while (!rest.empty()) {
      REQUIRE(rest.size() >= kHead && rest.starts_with(kSummaryMagic),
              "the summary of a module is damaged, or of another version of reweave-cc");
      std::uint32_t length = 0;
      std::memcpy(&length, rest.data() + kMagicBytes, sizeof length);
      REQUIRE(length <= rest.size() - kHead, "the summary of a module is damaged: it ends early");
      linker.add(rest.substr(kHead, length));
      rest.remove_prefix(kHead + length);
    }
  }
  return linker.take();
}

}  // namespace reweave
