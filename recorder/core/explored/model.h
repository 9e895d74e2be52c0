// The modelled environment of explored runs: answers system calls from the recording from which the run departed.
//
// An answer depends on the request, not on the thread. Reads of regular files return the file's contents
// (files/contents.h); other descriptors that lead outside give their recorded bytes in order (files/outside.h); pipes
// and the like are the run's own (own_descriptors.h); other calls get the answer recorded for the same names and
// numbers (matching.h), if possible of the same thread; clocks continue from the last recorded value; writes have no
// effect outside. The processes that the run creates are part of it (tasks/processes.h). A call that the recording
// cannot answer ends the run with OutcomeKind::kLeftRecording.
#pragma once

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"

namespace reweave::core {

// Indexes the recorded calls after the feed's current position. Called once, by the fork server.
void prepare_model();

// Answers `call`, logs the answer, returns its result.
long model_call(Call& call);

// The answer to `call`, an mmap or shmat whose argument `named` says what is mapped.
RecordedMapping model_mapping(const Call& call, int named);

}  // namespace reweave::core
