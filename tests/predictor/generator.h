// Synthetic traces of any size with planted bugs and planted look-alikes that are impossible, near and far apart.
//
// Worker threads run in slices, as recorded programs do: private work, locked counters, a queue under a lock, reads
// of shared settings. Each plant uses a variable and code locations of its own, so that answers can be told apart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/event.h"
#include "predictor/finding.h"

namespace reweave::testing {

struct GeneratorOptions {
  std::uint64_t events = 100'000;
  std::uint32_t threads = 4;    // workers, besides the first thread
  std::uint32_t slice = 5'000;  // events between switches
  std::uint32_t plants = 24;
  bool branches = true;
  bool data_flow = false;  // counters are read, too: then far apart plants may be ordered after all
  std::uint64_t seed = 1;
};

// What was planted. Code locations are site numbers.
struct Plant {
  FindingKind kind;
  bool feasible;
  std::vector<std::uint32_t> sites;
  std::string what;
};

// Feeds the trace to `sink`, event by event with its site; returns what was planted.
std::vector<Plant> generate(const GeneratorOptions& options,
                            const std::function<void(const TraceEvent&, std::uint32_t)>& sink);

}  // namespace reweave::testing
