// Hash of registers and writable memory, to check that a replay is exact (`replay --check`).
#pragma once

#include "recorder/core/base/hash.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// With RunConfig::memory_checksums: logs the state after the call, or compares it with the recorded one.
void log_checksum(const KernelContext& context);
void check_checksum(const KernelContext& context);

}  // namespace reweave::core
