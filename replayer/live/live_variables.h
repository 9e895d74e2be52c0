// Names memory of a stopped process as its code would: by the variables of its threads, and by the objects that these
// point to.
#pragma once

#include <string>
#include <vector>

#include "replayer/live/live_frames.h"

namespace reweave {

class LiveVariables {
 public:
  // `process` must be stopped, and stay so as long as this is used.
  explicit LiveVariables(const TracedProcess& process) : process_(process), frames_(process) {}

  // "counter.hits" for the part of a local variable of any thread that is at `address`; "pool->jobs" or "accounts[2]"
  // for something that a variable of the user's code owns or points to, with variables of thread `viewer` first;
  // "Pool::jobs" if only `this` points to it. Empty if nothing is known. Variables of libraries do not count.
  std::string name_of(std::uint64_t address, pid_t viewer);

 private:
  struct Variable;
  struct Scope;

  std::vector<Scope> scopes_of(const LiveFrame& frame);
  std::string name_on_stack(std::uint64_t address, const std::vector<LiveFrame>& frames);
  std::string name_in(const std::vector<LiveFrame>& frames, std::uint64_t address);
  std::string name_by_globals(const std::vector<LiveFrame>& frames, std::uint64_t address);
  std::string name_in_children(const Scope& scope, std::uint64_t address, int depth);
  std::string match(Variable& variable, std::uint64_t address);
  std::string match_target(const Variable& variable, std::uint64_t target, std::uint64_t address) const;

  const TracedProcess& process_;
  LiveFrames frames_;
  std::string by_this_;       // the name by `this`; any other name is better
  bool owners_only_ = false;  // pointers and references do not count
};

}  // namespace reweave
