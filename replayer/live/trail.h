// The instructions that a thread executed in a stretch of a replay. With them, the instruction before an instant is
// found without a search.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "replayer/live/position.h"

namespace reweave {

class Trail {
 public:
  Trail() = default;
  explicit Trail(std::uint32_t thread) : thread_(thread) {}

  // Adds the next instruction that the thread reaches. The first one added must be the thread's first with its
  // progress. Returns its position.
  Position add(const Progress& progress, std::uint64_t pc);
  // The instruction before `position`; nothing if it is not known, or the trail begins there.
  std::optional<Position> before(const Position& position) const;

 private:
  // Instructions with the same progress.
  struct Part {
    Progress progress;
    std::size_t begin;  // in pcs_
  };

  static constexpr std::size_t kMost = 4 << 20;  // instructions of eight bytes; a longer trail is dropped

  std::size_t end_of(std::size_t part) const;
  Position position_of(std::size_t part, std::size_t index) const;

  std::uint32_t thread_ = 0;
  std::vector<Part> parts_;  // by progress
  std::vector<std::uint64_t> pcs_;
  Progress latest_;
  std::unordered_map<std::uint64_t, std::uint64_t> arrivals_;  // counts with the latest progress, by address
  bool too_long_ = false;
};

}  // namespace reweave
