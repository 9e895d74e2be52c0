// Variants of a failing schedule to try in its place: with fewer preemptions, or with a later one.
#pragma once

#include <vector>

#include "explorer/run/observation.h"
#include "explorer/run/switches.h"

namespace reweave {

// Places in a run where stopping a thread can matter: before operations on objects that other threads use too.
struct StopPoint {
  ThreadId thread;
  std::uint32_t tick;
};
std::vector<StopPoint> stop_points(const Observation& run);

// Lists with fewer preemptions than `list`, from which the failing run `run` was made. First come lists with a single
// preemption, at every stop point. If `list` has three or more preemptions, lists follow in which one preemption
// replaces two neighbouring ones.
std::vector<SwitchList> shorter_schedules(const Observation& run, const SwitchList& list);

// `list` with preemption `index` at later and later stop points of the same thread.
std::vector<SwitchList> delayed_schedules(const Observation& run, const SwitchList& list, std::size_t index);

}  // namespace reweave
