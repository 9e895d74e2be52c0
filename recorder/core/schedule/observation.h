// Notes the policy's choices for the search (recorder/observation.h).
#pragma once

#include "recorder/policy.h"

namespace reweave::core {

void clear_notes();
// Notes the choice of `chosen`, made with `args`, if the run is observed.
void note_choice(const ChoiceArgs& args, ThreadId chosen);

}  // namespace reweave::core
