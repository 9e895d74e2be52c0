// What makes two failures the same: how the run ended, where, and which two operations came in the wrong order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "explorer/places.h"
#include "explorer/run.h"

namespace reweave {

// The last place in the program itself that the thread which ended an observed run came to: what stands above it is
// the library's way to abort. 0 for deadlocks and hangs, whose last thread is accidental.
std::uint64_t failure_site(const RunResult& run, const Places& places);

// Of the first preemption of an observed run: the operation before which the thread is stopped, and the last one in
// between that conflicts with it. Zeros if there is none.
std::pair<std::uint64_t, std::uint64_t> racing_pair(const Observation& run);

}  // namespace reweave
