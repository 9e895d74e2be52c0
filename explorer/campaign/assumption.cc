#include "explorer/campaign/assumption.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "formats/base/error.h"

namespace reweave {

namespace {

constexpr std::string_view kUninterrupted = "uninterrupted ", kBy = " by ", kAnd = " and ", kAfter = " only after ",
                           kTo = "..";

std::vector<std::string> parts_of(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t next = text.find(separator, at);
    parts.push_back(text.substr(at, next == text.npos ? text.npos : next - at));
    if (next == text.npos) return parts;
    at = next + separator.size();
  }
}

Assumption::Block parse_block(const std::string& text) {
  static const std::regex lines("(.*[^:]):([0-9.]+)-([0-9.]+)");
  std::smatch parts;
  if (std::regex_match(text, parts, lines)) {
    const std::string function = parts[1].str() + ":";
    return {parse_place(function + parts[2].str()), parse_place(function + parts[3].str())};
  }
  const std::vector<std::string> ends = parts_of(text, kTo);
  REQUIRE(ends.size() <= 2, "'{}' is not a block of code", text);
  return {parse_place(ends.front()), parse_place(ends.back())};
}

std::string block_text(const Assumption::Block& block) {
  const std::string begin = text_of(block.begin), end = text_of(block.end);
  if (begin == end) return begin;
  const bool lines = block.begin.line != 0 && block.end.line != 0 && block.begin.name == block.end.name;
  return lines ? begin + "-" + end.substr(block.end.name.size() + 1) : begin + std::string(kTo) + end;
}

template <typename List, typename Text>
std::string joined(const List& list, const Text& text) {
  std::string all;
  for (const auto& item : list) all += (all.empty() ? "" : std::string(kAnd)) + text(item);
  return all;
}

}  // namespace

Assumption parse_assumption(const std::string& text) {
  Assumption assumption;
  if (text.starts_with(kUninterrupted)) {
    std::string blocks = text.substr(kUninterrupted.size());
    if (const std::size_t by = blocks.rfind(kBy); by != blocks.npos) {
      for (const std::string& place : parts_of(blocks.substr(by + kBy.size()), kAnd))
        assumption.rivals.push_back(parse_place(place));
      blocks.resize(by);
    }
    for (const std::string& block : parts_of(blocks, kAnd)) assumption.blocks.push_back(parse_block(block));
    return assumption;
  }
  const std::vector<std::string> places = parts_of(text, kAfter);
  REQUIRE(
      places.size() == 2,
      "'{}' is not an assumption: give 'uninterrupted FUNCTION:LINE-LINE' or 'FUNCTION:LINE only after FUNCTION:LINE'",
      text);
  assumption.then = parse_place(places[0]);
  assumption.first = parse_place(places[1]);
  return assumption;
}

std::string text_of(const Assumption& assumption) {
  const auto place_text = [](const CodePlace& place) { return text_of(place); };
  if (assumption.then) return place_text(*assumption.then) + std::string(kAfter) + place_text(*assumption.first);
  std::string text = std::string(kUninterrupted) + joined(assumption.blocks, block_text);
  if (!assumption.rivals.empty()) text += std::string(kBy) + joined(assumption.rivals, place_text);
  return text;
}

AssumedCode code_of(const Assumption& assumption, CodeOperations& operations) {
  AssumedCode code;
  for (const Assumption::Block& block : assumption.blocks)
    code.blocks.push_back({operations.at(block.begin), operations.at(block.end)});
  for (const CodePlace& rival : assumption.rivals) code.rivals.push_back(operations.at(rival));
  if (assumption.first) code.first = operations.at(*assumption.first);
  if (assumption.then) code.then = operations.at(*assumption.then);
  return code;
}

Assumption assumption_of(const AssumedCode& code, CodeOperations& operations) {
  Assumption assumption;
  for (const AssumedCode::Block& block : code.blocks)
    assumption.blocks.push_back({operations.place_of(block.begin), operations.place_of(block.end)});
  for (const std::uint64_t rival : code.rivals) assumption.rivals.push_back(operations.place_of(rival));
  if (code.first != 0) assumption.first = operations.place_of(code.first);
  if (code.then != 0) assumption.then = operations.place_of(code.then);
  return assumption;
}

void assume(const AssumedCode& code, HeldGoals& held) {
  if (code.then != 0) held.orders.push_back({{code.first, 1, kAnyThread, 0}, {code.then, 1, kAnyThread, 0}});
  std::vector<std::uint64_t> rivals;
  for (const AssumedCode::Block& block : code.blocks) rivals.push_back(block.begin);
  rivals.insert(rivals.end(), code.rivals.begin(), code.rivals.end());
  for (const AssumedCode::Block& block : code.blocks) {
    RegionGoal goal = {block.begin, block.end, code.rivals.empty() ? 1u : 0u, {}};
    REQUIRE(rivals.size() <= std::size(goal.rivals), "an assumption can have at most {} blocks and places",
            std::size(goal.rivals));
    std::ranges::copy(rivals, goal.rivals);
    held.regions.push_back(goal);
  }
  REQUIRE(held.orders.size() <= kMostOrders && held.regions.size() <= kMostRegions,
          "a search can assume at most {} orders and {} blocks", kMostOrders, kMostRegions);
}

HeldGoals held_under(const AssumedCode& code) {
  HeldGoals held;
  assume(code, held);
  return held;
}

}  // namespace reweave
