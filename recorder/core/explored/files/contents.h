// Regular files of explored runs. A read returns the bytes that the run itself wrote at that place, or else those that
// a recorded call read there. If there are neither, the run leaves the recording.
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/recorded/contents.h"

namespace reweave::core {

// Answers a call about the contents, size or position of `file`, to which `call`'s descriptor refers.
bool model_contents_call(Call& call, RecordedFile& file, long& result);
// Reads as much as the file has from `offset` on. Ends the run if that is not known.
long read_contents(const Call& call, std::uint32_t index, std::int64_t offset, const Spans& to);
// Stores the bytes in the file.
void put_contents(const Call& call, std::uint32_t index, std::int64_t offset, const Spans& from);
// Applies a write by `call`, which the environment accepts as a whole, to the contents of `file`.
void write_contents(const Call& call, RecordedFile& file);
// The identity that the log gives to the file that `fd`, a descriptor just opened, leads to, so that a search from this
// run's log knows as much of it as this run.
void identify_modelled(long fd, wire::NamedFiles& to);
// `call` opened `file` with these O_ flags.
void open_contents(const Call& call, RecordedFile& file, long flags);

}  // namespace reweave::core
