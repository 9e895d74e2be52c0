// Random small traces that some program could have produced: locks exclude each other, threads start when forked.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/event.h"

namespace reweave::testing {

struct RandomTraceOptions {
  std::uint32_t threads = 2;
  std::uint32_t events = 16;
  std::uint32_t variables = 2;
  std::uint32_t locks = 2;
  bool branches = true;
  bool shared_locks = false;
  bool fork_join = false;
  bool atomics = false;
  bool mixed_atomics = false;  // atomic accesses use the plain variables too
  bool nests = false;          // locks are mostly taken one in another, two at a time
  bool mixed_sizes = false;
  bool conditions = false;
  bool pointers = false;       // some reads are followed, some writes are null (kNullValue)
  bool blind_updates = false;  // nothing depends on the old value of some atomic updates (kOnlyData)
  bool data_reads = false;     // some reads decide nothing, some writes depend on them (kOnlyData)
  bool heap = false;           // two blocks, accessed and freed; now and then one is freed twice
  bool stacks = false;         // accesses to the stacks of started threads; needs fork_join
  bool ends = false;           // threads end, and the first one ends the process
  bool privates = false;       // accesses to variables of one thread; some threads make no others
  bool wakes_one = false;      // some notifications wake one waiter only, and some waits time out; needs conditions
  bool semaphores = false;     // there are two semaphores
  bool messages = false;       // two kernel objects that are sent to and received from
  bool values = false;         // most accesses have a value, one of three
  std::uint32_t barrier = 0;   // threads that a barrier waits for; 0: no barrier
};

// The same seed gives the same trace. Event i has pc i.
std::vector<TraceEvent> random_trace(const RandomTraceOptions& options, std::uint64_t seed);

}  // namespace reweave::testing
