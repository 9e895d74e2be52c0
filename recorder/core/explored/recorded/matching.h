// Decides which recorded call answers a call of an explored run: one with the same request, made by any thread.
#pragma once

#include "recorder/core/explored/recorded/calls.h"

namespace reweave::core {

// A call's request, computed once for all comparisons.
struct Asked {
  const Call& call;
  std::uint32_t file;  // the open file that it concerns, or kNothing
  const char* names;   // as logged; null: it names nothing
  std::uint32_t name_bytes;
  std::uint8_t numbers;  // arguments that must be equal: a bit mask, the first in the lowest bit
  bool made_up;          // matches a recorded name that differs as made up (recorded/made_up_names.h)
};

Asked asked_by(const Call& call);
bool answers(const Asked& asked, const RecordedCall& recorded);

// True if `call` creates a file or folder that did not exist, by a name that the run may have made up.
bool makes_new(const Call& call);
// `recorded` answers a call with a made-up name.
void note_made_up(const Asked& asked, const RecordedCall& recorded);

// True if `call` only reads state, or opens a file for reading: it may get a recorded answer that was used already.
bool may_answer_again(const Call& call, const RecordedCall& recorded);

// A recorded call was logged with the names of its files. Older recordings have none; then names do not count.
void note_recording_has_names();

}  // namespace reweave::core
