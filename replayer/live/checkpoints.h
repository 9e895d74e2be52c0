// Checkpoints of the replay of a recording. Going backward starts from one of them instead of from the beginning.
//
// Successive requests that go backward usually concern nearby events. So one replay makes several checkpoints while it
// passes: close to the requested event, and at growing distances before it. A later request elsewhere makes the same
// pattern there, starting from the nearest checkpoint. The number of checkpoints and their memory are bounded.
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
  // `known`: the first replay's announcement, which lists the events at which a replay can hold.
  void begin(const ReplaySource& source, nlohmann::json known);
  bool has_begun() const { return !known_.is_null(); }
  const nlohmann::json& known() const { return known_; }

  // The event at which a replay really holds if it is asked to hold before `event`.
  std::uint64_t holdable(std::uint64_t event) const;
  // The nearest checkpoint at or before `event`, which must be holdable; makes some first if none is close. Null if
  // there is none.
  const Checkpoint* before(std::uint64_t event);

  // Forgets all checkpoints, because they did not work.
  void forget() { made_.clear(); }

  // The reason why the last requested checkpoint was not made; empty if it was.
  const std::string& refusal() const { return refusal_; }
  std::size_t count() const { return made_.size(); }
  // The memory of all checkpoints in bytes, with shared pages counted in proportion (Pss).
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
