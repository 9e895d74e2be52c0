// Accesses of programs built by reweave-cc (recorder/sled_format.h). A sled is an instruction without effect. Once
// armed, it is a jump to its own stub beside the code, which counts a schedule point, or notes the access in the trace,
// or both, and jumps back.
//
// Recording and replaying arm no sleds, so they cost the same as without sleds. Explored runs arm and count them from
// their beginning, and so do replays of recordings that explored runs made, so that the points have the same numbers. A
// traced replay arms them from main on; it counts them only where the recorded run did.
//
// The stub leaves the registers, the stack pointer and the memory below it unchanged for the access. Only the flags
// change; at each sled the program does not need them.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Code was mapped at `start`: notes the table of the object that it belongs to, if there is one.
void note_sleds(std::uint64_t start);

// True if the object whose ELF header is at `headers` has a table.
bool has_sleds(std::uint64_t headers);

// Arms the sleds of all objects, as the run wants them. Called at main, and where explored runs begin. Thread rule: the
// baton holder only.
void arm_sleds();

// Fork server, between two runs: `table` says for the next one which sites are quiet (recorder/observation.h).
void quiet_sleds(const std::uint8_t* table);

// Called before each system call: arms the sleds of objects that were loaded since the last one. The loader makes a
// system call after it has mapped the whole object and before it runs any of the object's code.
void arm_new_sleds();

// Restores the code in a range that is about to be inspected, written to or moved.
void disarm_sleds(std::uint64_t start, std::uint64_t end);

// The work of armed sleds in this process.
struct SledMode {
  bool counts, traces;
};
const SledMode& sled_mode();

}  // namespace reweave::core
