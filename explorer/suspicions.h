// Where stopping one thread in favour of another is most likely to break something, by what one run did: between two
// accesses that look as if they belonged together (the unserializable patterns of Park, Vuduc, Harrold, ICSE 2010),
// while a lock is held and another is wanted, before a first use, right after a thread was created.
#pragma once

#include <vector>

#include "explorer/observation.h"
#include "explorer/switches.h"

namespace reweave {

struct Suspicion {
  SwitchList schedule;  // run on its own, otherwise without preemption
  double weight = 0;
  std::uint64_t here = 0;   // site before which the thread is stopped
  std::uint64_t there = 0;  // site of the operation that is to come in between
};

// Most suspicious first; of those that concern the same two sites only the first few. `run` is one that was not
// preempted.
std::vector<Suspicion> suspicions_of(const Observation& run);

}  // namespace reweave
