// The modelled environment of explored runs: system calls are answered from the recording that the run departed from.
//
// What is answered depends on what is asked, not on who asks. Regular files give what is where the call reads
// (modelled_contents.h); other descriptors that lead outside give their recorded bytes in order (modelled_outside.h);
// pipes and the like are the run's own (modelled_files.h); other calls get what was recorded of the same name and
// numbers (matching.h), if possible by the same thread; clocks go on from the last recorded value; writes are kept
// aside. The processes that the run makes are parts of it (modelled_processes.h). A call that the recording cannot
// answer ends the run as OutcomeKind::kLeftRecording.
#pragma once

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"

namespace reweave::core {

// Indexes the recorded calls from the feed's present position on. Called once, by the fork server.
void prepare_model();

// Answers `call`, logs the answer, returns its result.
long model_call(Call& call);

// What answers `call`, an mmap or shmat, whose argument `named` says what is mapped.
RecordedMapping model_mapping(const Call& call, int named);

}  // namespace reweave::core
