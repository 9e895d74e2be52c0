// Which recorded call answers a call of an explored run: one that asked the same, whichever thread did.
#pragma once

#include "recorder/core/explored/recorded_calls.h"

namespace reweave::core {

// What a call asks, made once for all comparisons.
struct Asked {
  const Call& call;
  std::uint32_t file;  // the open file that it is about, or kNothing
  const char* names;   // as they are logged; null: it names nothing
  std::uint32_t name_bytes;
  std::uint8_t numbers;  // arguments that must be equal, the first in the lowest bit
  bool made_up;          // a name that differs from the recorded one as made up is meant (made_up_names.h)
};

Asked asked_by(const Call& call);
bool answers(const Asked& asked, const RecordedCall& recorded);

// `call` makes a file or a folder that did not exist, by a name that the run may have made up.
bool makes_new(const Call& call);
// `recorded` answers a call that asked for a made-up name.
void note_made_up(const Asked& asked, const RecordedCall& recorded);

// `call` only looks, or says what was said before: it may have an answer that was used.
bool may_answer_again(const Call& call, const RecordedCall& recorded);

// Some call of the recording was logged with what it named. In older ones none was, and names do not count.
void note_recording_has_names();

}  // namespace reweave::core
