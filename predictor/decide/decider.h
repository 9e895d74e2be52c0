// Decides which proposed groups are feasible, with the cheapest check first: sync-preserving (sync_preserving.h), then
// SeqCheck on a window of the trace, then SeqCheck on all of it.
//
// Groups are independent of each other, so one thread per processor decides them. The answer does not depend on the
// distribution of work unless time runs out. Long closures are charged to a budget of work, the shortest first.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "predictor/decide/analysis.h"
#include "predictor/decide/seqcheck.h"
#include "predictor/decide/sync_preserving.h"

namespace reweave {

struct Decision {
  std::optional<std::size_t> feasible;  // the feasible instance
  Witness witness;
  std::size_t checks = 0;  // feasibility checks made
  // Events of the group's closures charged to the budget of work, by round. The second round makes the checks of the
  // whole trace that follow an expensive check of the window.
  std::array<std::uint64_t, 2> costs{};
  bool undecided = false;  // time or work ran out before everything was tried
};

class Decider {
 public:
  Decider(const TraceModel& model, const MustOrder& order, const Locksets& locksets, std::function<bool()> expired);

  struct Options {
    bool keep_order = false;                                 // make only the first check
    std::function<void(std::size_t decided)> progress = {};  // never called concurrently
    // An earlier run's decision about a group, or null. It is final.
    std::function<const Decision*(std::size_t group)> known = {};
    // Called when a group was decided finally, and not by `known`; never called concurrently.
    std::function<void(std::size_t group, const Decision&)> decided = {};
  };
  // Returns one decision per group. Sorts the instances of each group, those with close events first.
  std::vector<Decision> decide(std::vector<Group>& groups, const Options& options) const;

 private:
  struct Task {
    std::size_t group, instance;
    EventIndex window_start;
    std::uint64_t cost;
    std::size_t round;  // index in Decision::costs
  };
  using Tasks = std::vector<Task>;
  static void sort_instances(Group& group);
  bool decide_keeping_order(Group& group, Decision& decision) const;
  void decide_cheaply(Group& group, Decision& decision, Tasks& left, std::size_t number) const;
  std::vector<std::size_t> affordable(std::vector<Tasks>& left, std::vector<Decision>& decisions, std::size_t round,
                                      std::uint64_t& work) const;
  void decide_first(Group& group, std::size_t number, const Options& options, Decision& decision, Tasks& left) const;
  void decide_rest(const Group& group, Tasks& tasks, std::size_t round, Decision& decision) const;
  void decide_by_closure(const Group& group, const Task& task, Decision& decision) const;
  EventIndex window_start(const Instance& instance) const;
  void accept(Decision& decision, std::size_t instance, const Reordering& witness) const;
  // Calls job(i) for all i below `count`, on all processors.
  static void in_parallel(std::size_t count, const std::function<void(std::size_t)>& job);

  const TraceModel& model_;
  const Locksets& locksets_;
  SyncPreserving keeping_;
  SeqCheck check_;
  std::function<bool()> expired_;
};

}  // namespace reweave
