// Notes what the policy chose, for the search outside (recorder/observation.h).
#pragma once

#include "recorder/policy.h"

namespace reweave::core {

void clear_notes();
// The choice of `chosen`, made with `args`. Nothing if the run is not observed.
void note_choice(const ChoiceArgs& args, ThreadId chosen);

}  // namespace reweave::core
