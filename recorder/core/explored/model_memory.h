// The memory of the model (model.h). A run of one process has it to itself, as a copy of the fork server's. Before the
// run creates another process, or executes a program, it becomes memory that all processes of the run share, at the
// same addresses, and that survives an exec.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"

// A static variable of the model, initially 0.
#define IN_MODEL [[gnu::section(".bss.0model")]]

namespace reweave::core {

// Allocates zeroed memory for the rest of the run, in whole pages. Null: there is none.
std::byte* take_model_room(std::uint64_t bytes);

// The fork server: its index ends at `end`.
void note_index_end(std::uint64_t end);

// Processes that the run creates from now on share the model.
void share_model();

// A new image of such a run: attaches the shared model in place of the initial one.
void attach_model();

}  // namespace reweave::core
