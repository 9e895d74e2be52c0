// The memory of what explored runs know (model.h). A run of one process has it as its own, a copy of the fork server's.
// Before the run makes another process, or executes a program, it becomes memory that all of its processes share, at
// the same addresses, and that outlives an exec.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

// A static variable of the model. It begins as 0.
#define IN_MODEL [[gnu::section(".bss.0model")]]

namespace reweave::core {

// Memory for the rest of the run, zeroed, in whole pages. Null: there is none.
std::byte* take_model_room(std::uint64_t bytes);

// The fork server: what it has indexed ends at `end`.
void note_index_end(std::uint64_t end);

// The processes that the run makes from now on share the model.
void share_model();

// A new image of such a run: its part in the model, in place of what it began with.
void attach_model();

}  // namespace reweave::core
