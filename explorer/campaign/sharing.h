// Finds the operations of a run on objects that another thread, alive at the same time, uses too.
#pragma once

#include <map>
#include <vector>

#include "explorer/run/observation.h"

namespace reweave {

// The operations on one shared object, by their indices in the run.
struct SharedObject {
  std::uint64_t granule;  // address of its 8 bytes
  std::vector<std::size_t> operations;
};

// Objects that two threads used and one of them changed, in order of address. Operations while no other thread is alive
// do not count: before the first is created and after the last is joined nothing can come in between.
std::vector<SharedObject> shared_objects(const Observation& run);

}  // namespace reweave
