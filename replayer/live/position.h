// Names of instants of a replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replayer/live/core_view.h"

namespace reweave {

// The instant at which a thread is about to execute an instruction of the program. Between two events one thread runs,
// and its behaviour depends only on registers and memory, so its arrivals at an address can be counted.
struct Position {
  Progress progress;
  std::uint32_t thread = 0;  // index, as `reweave dump` names it
  std::uint64_t pc = 0;
  std::uint64_t arrival = 1;  // number of the arrival at `pc` with that progress, from 1
  std::uint64_t steps = 0;    // instructions that the thread has executed after that arrival
  bool operator==(const Position&) const = default;
};

// EVENT/tTHREAD/STEP@PC#ARRIVAL[+STEPS], such as 112/t2/240@0x401136#3.
std::string name_of(const Position& position);
// Nothing if `name` does not have this form.
std::optional<Position> parse_position(const std::string& name);

}  // namespace reweave
