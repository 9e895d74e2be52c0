// The time stamp counter as an input: PR_SET_TSC makes rdtsc fault, and the core answers.
#pragma once

#include "recorder/core/signals.h"

namespace reweave::core {

// If the faulting instruction is rdtsc or rdtscp: gives it a logged value, steps over it, returns true.
bool emulate_tsc(KernelContext& context);

}  // namespace reweave::core
