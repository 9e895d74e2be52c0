// Regular files of explored runs. A read gives what is in the file where it reads: what the run wrote there itself,
// else what some recorded call read there. Where neither is known the run leaves the recording.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/recorded_contents.h"

namespace reweave::core {

// Answers a call about the contents, size or position of `file`, which `call`'s descriptor leads to.
bool model_contents_call(Call& call, RecordedFile& file, long& result);
// Reads as much as there is in the file from `offset` on. Ends the run if that is not known.
long read_contents(const Call& call, std::uint32_t index, std::int64_t offset, const Spans& to);
// The bytes are in the file from now on.
void put_contents(const Call& call, std::uint32_t index, std::int64_t offset, const Spans& from);
// What a write of `call`, which the environment takes as a whole, does to the contents of `file`.
void write_contents(const Call& call, RecordedFile& file);
// `call` opened `file` with these O_ flags.
void open_contents(const Call& call, RecordedFile& file, long flags);

}  // namespace reweave::core
