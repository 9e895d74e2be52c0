// Calls of explored runs on descriptors that lead outside: each open file gives the bytes recorded for it, in order, to
// whichever thread reads, as many as it asks for.
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/recorded/files.h"

namespace reweave::core {

// Answers `call`, whose descriptor refers to `file`. False: the recorded call does.
bool model_outside_call(Call& call, RecordedFile& file, long& result);

// Fills memory with bytes that look random to the program and are the same in each run of a seed.
void fill_randomly(const Span& span);

}  // namespace reweave::core
