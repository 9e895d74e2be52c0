// Finds, in one run, the places where stopping one thread in favour of another is most likely to break something:
// - between two accesses that look as if they belonged together (the unserializable patterns of Park, Vuduc, Harrold,
//   ICSE 2010);
// - before a thread that holds a lock takes another;
// - before a first use, and right after the creation of a thread.
#pragma once

#include <vector>

#include "explorer/run/observation.h"
#include "explorer/run/switches.h"

namespace reweave {

struct Suspicion {
  SwitchList schedule;  // the only preemptions of the run that tests it
  double weight = 0;
  std::uint64_t here = 0;   // site before which the thread is stopped
  std::uint64_t there = 0;  // site of the operation that should come in between
};

// Most suspicious first; only the first few for each pair of sites. `run` must be a run without preemptions.
std::vector<Suspicion> suspicions_of(const Observation& run);

}  // namespace reweave
