#include "replayer/live/position.h"

#include <fmt/format.h>

#include <regex>

namespace reweave {

std::string name_of(const Position& position) {
  std::string name = fmt::format("{}/t{}/{}@{:#x}#{}", position.progress.event, position.thread, position.progress.step,
                                 position.pc, position.arrival);
  if (position.steps != 0) name += fmt::format("+{}", position.steps);
  return name;
}

std::optional<Position> parse_position(const std::string& name) {
  static const std::regex kForm(
      R"((\d{1,18})/t(\d{1,5})/(\d{1,18})@0x([0-9a-f]{1,16})#([1-9]\d{0,17})(?:\+(\d{1,18}))?)");
  std::smatch found;
  if (!std::regex_match(name, found, kForm)) return {};
  Position position;
  position.progress = {std::stoull(found[1]), std::stoull(found[3])};
  position.thread = static_cast<std::uint32_t>(std::stoul(found[2]));
  position.pc = std::stoull(found[4], nullptr, 16);
  position.arrival = std::stoull(found[5]);
  if (found[6].matched) position.steps = std::stoull(found[6]);
  return position;
}

}  // namespace reweave
