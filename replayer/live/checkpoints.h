// Checkpoints of the replay of a recording, from which going backward starts instead of from the beginning.
//
// Going backward asks for events close before each other. So checkpoints are made while one replay passes by: close to
// the event that was asked for, and ever further apart before it. The next request somewhere else makes that same
// pattern there, from the nearest checkpoint on. What they cost is bounded by their number and their memory.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "replayer/live/replay_helper.h"

namespace reweave {

class Checkpoints {
 public:
  // `known`: what the first replay announced; it says at which events a replay can hold.
  void begin(const ReplaySource& source, nlohmann::json known);
  bool has_begun() const { return !known_.is_null(); }
  const nlohmann::json& known() const { return known_; }

  // The event at which a replay holds that is asked for `event`.
  std::uint64_t holdable(std::uint64_t event) const;
  // The nearest checkpoint at or before `event`, which is holdable, after making some if there is none close by. Null:
  // there is none.
  const Checkpoint* before(std::uint64_t event);

  // They did not work.
  void forget() { made_.clear(); }

  // Why the last one that was asked for was not made; empty: it was.
  const std::string& refusal() const { return refusal_; }
  std::size_t count() const { return made_.size(); }
  // The memory that they have, as far as it is not shared with other processes (Pss), in bytes.
  std::uint64_t memory() const;

 private:
  const Checkpoint* nearest(std::uint64_t event) const;
  bool is_hopeless(std::uint64_t event) const;
  std::set<std::uint64_t> pattern(std::uint64_t event, std::uint64_t from) const;
  void make(const std::set<std::uint64_t>& events, const Checkpoint* from);
  void drop_some(std::uint64_t event);

  ReplaySource source_;
  nlohmann::json known_;
  std::map<std::uint64_t, Checkpoint> made_;  // by event
  std::set<std::uint64_t> refused_;           // events
  std::string refusal_;
};

}  // namespace reweave
