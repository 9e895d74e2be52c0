#include "explorer/campaign/code_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/elf/debug_names.h"
#include "recorder/core/code/instruction.h"
#include "recorder/sled_format.h"

namespace reweave {

namespace {

template <typename Number>
Number number_of(const std::string& digits, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  REQUIRE(error == std::errc() && end == digits.data() + digits.size(), "{} is too large", digits);
  return number;
}

// True if the code is the sled in front of an access.
bool is_sled(const std::vector<std::uint8_t>& bytes) {
  return std::equal(std::begin(kSled), std::end(kSled), bytes.begin());
}

// True for functions of the instrumentation that announce what no other thread can see, such as the entry of a
// function.
bool is_silent(const std::string& function) {
  return function.starts_with("__tsan_func_") || function == "__tsan_init";
}

}  // namespace

CodePlace parse_place(const std::string& text) {
  static const std::regex line("(.*[^:]):([0-9]+)(?:\\.([0-9]+))?"), offset("(.+)\\+0x([0-9a-f]+)");
  std::smatch parts;
  CodePlace place;
  if (std::regex_match(text, parts, line)) {
    place.name = parts[1];
    place.line = number_of<int>(parts[2]);
    if (parts[3].matched) place.number = number_of<unsigned>(parts[3]);
    REQUIRE(place.line > 0 && (!parts[3].matched || place.number > 0), "'{}': lines and operations count from 1", text);
    return place;
  }
  REQUIRE(std::regex_match(text, parts, offset),
          "'{}' is not a place in code: give FUNCTION:LINE, FUNCTION:LINE.N or FILE+0xOFFSET", text);
  place.name = parts[1];
  place.offset = number_of<std::uint64_t>(parts[2], 16);
  return place;
}

std::string text_of(const CodePlace& place) {
  if (place.line == 0) return fmt::format("{}+{:#x}", place.name, place.offset);
  return place.number == 0 ? fmt::format("{}:{}", place.name, place.line)
                           : fmt::format("{}:{}.{}", place.name, place.line, place.number);
}

void CodeOperations::read(const std::string& function) {
  auto& lines = known_[function];
  for (const Places::Code& code : places_.code_of(function))
    for (std::size_t at = 0; at < code.bytes.size();) {
      const std::size_t most = std::min<std::size_t>(code.bytes.size() - at, core::kLongestInstruction);
      const auto first = code.bytes.begin() + static_cast<std::ptrdiff_t>(at);
      std::vector<std::uint8_t> bytes(first, first + static_cast<std::ptrdiff_t>(most));
      bytes.resize(core::kLongestInstruction);  // the decoder may read beyond the code's end
      const std::uint32_t length = core::instruction_bytes(bytes.data());
      if (length == 0) break;
      const std::uint64_t address = code.address + at, behind = address + length;
      at += length;
      const bool sled = is_sled(bytes);
      const std::string callee = sled ? "access" : places_.callee(address, bytes);
      if (callee.empty() || is_silent(callee) || (!sled && !places_.is_taken_over(callee))) continue;
      const SourceFrame* source = places_.source(behind);
      const bool is_of_it =
          source != nullptr && (source->function == function || without_parameters(source->function) == function);
      if (!is_of_it || source->line <= 0) continue;
      lines[source->line].push_back(behind);
      callees_[behind] = callee;
    }
  for (auto& [line, pcs] : lines) {
    std::ranges::sort(pcs);
    const auto twice = std::ranges::unique(pcs);
    pcs.erase(twice.begin(), twice.end());
  }
}

const std::vector<std::uint64_t>& CodeOperations::on_line(const std::string& function, int line) {
  if (!known_.contains(function)) read(function);
  return known_[function][line];
}

std::vector<int> CodeOperations::lines_of(const std::string& function) {
  if (!known_.contains(function)) read(function);
  std::vector<int> lines;
  for (const auto& [line, pcs] : known_[function])
    if (!pcs.empty()) lines.push_back(line);
  return lines;
}

std::uint64_t CodeOperations::at(const CodePlace& place) {
  if (place.line == 0) return places_.address_in(place.name, place.offset);
  const std::vector<std::uint64_t>& pcs = on_line(place.name, place.line);
  REQUIRE(!pcs.empty(),
          "line {} of {} has no operation that can be ordered: an access of a program built with reweave-cc or "
          "-fsanitize=thread and -g, a lock or a wait",
          place.line, place.name);
  REQUIRE(place.number <= pcs.size(), "line {} of {} has {}", place.line, place.name, counted(pcs.size(), "operation"));
  std::string list;
  for (std::size_t i = 0; i < pcs.size() && place.number == 0; i++)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", i + 1, callees_[pcs[i]]);
  REQUIRE(place.number > 0 || pcs.size() == 1, "line {} of {} has {} operations, so give one of them as {}:{}.N: {}",
          place.line, place.name, pcs.size(), place.name, place.line, list);
  return pcs[place.number == 0 ? 0 : place.number - 1];
}

unsigned CodeOperations::number_of(std::uint64_t pc) {
  const SourceFrame* source = places_.source(pc);
  if (source == nullptr || source->function.empty() || source->line <= 0) return 0;
  const std::vector<std::uint64_t>& pcs = on_line(source->function, source->line);
  const auto found = std::ranges::find(pcs, pc);
  return found == pcs.end() ? 0 : static_cast<unsigned>(found - pcs.begin()) + 1;
}

CodePlace CodeOperations::place_of(std::uint64_t pc) {
  CodePlace place;
  if (const unsigned number = number_of(pc); number != 0) {
    const SourceFrame* source = places_.source(pc);
    place.name = source->function;
    place.line = source->line;
    if (on_line(place.name, place.line).size() > 1) place.number = number;
    return place;
  }
  const std::string text = places_.module_offset(pc);
  return text.empty() ? CodePlace{"", 0, 0, pc} : parse_place(text);
}

}  // namespace reweave
