// Calls of explored runs on descriptors that lead outside: each open file gives the bytes that were recorded of it, in
// order, to whoever reads, as many as are asked for.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/recorded_files.h"

namespace reweave::core {

// Answers `call`, whose descriptor leads to `file`. False: the recorded call does.
bool model_outside_call(Call& call, RecordedFile& file, long& result);

// Fills memory with what is random to the program and the same in each run of a seed.
void fill_randomly(const Span& span);

}  // namespace reweave::core
