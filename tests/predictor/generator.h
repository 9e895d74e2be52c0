// Generates synthetic traces of any size, with planted bugs and planted infeasible look-alikes, whose parts are near or
// far apart.
//
// Worker threads form groups. Inside a group data flows and is branched on: counters under locks, nested locks, buffers
// handed over through a flag under a lock, atomic flags. Between groups threads share only locks (of statistics that
// are written, never read) and settings that the first thread wrote before it started the others. So the generator
// decides how far apart the parts of a plant are, and the truth about a plant is known (plants.h). One scheduler, which
// respects locks, emits every event: each trace is a run that some program could have had.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/event.h"
#include "predictor/witness/finding.h"

namespace reweave::testing {

struct GeneratorOptions {
  std::uint64_t events = 100'000;
  std::uint32_t threads = 4;    // workers, besides the first thread and those that plants start
  std::uint32_t slice = 5'000;  // at most this many events between switches
  std::uint32_t plants = 60;
  bool branches = true;
  std::uint32_t group = 0;  // threads of a group; 0: half the threads, at most 4
  std::uint64_t seed = 1;
};

// A planted bug, or an infeasible look-alike. Code locations are site numbers.
struct Plant {
  FindingKind kind;
  bool feasible;
  std::vector<std::uint32_t> sites;
  std::string what;
};

// Feeds the trace to `sink`, event by event with its site; returns the plants.
std::vector<Plant> generate(const GeneratorOptions& options,
                            const std::function<void(const TraceEvent&, std::uint32_t)>& sink);

}  // namespace reweave::testing
