// Loops of plain code in which a thread was preempted. From then on an instruction of theirs is a schedule point: a
// jump to a stub takes its place, which counts, as calls of the shim do, and goes on. So the thread's next preemptions
// and signals there have a number, which a replay comes by as often; to name such an instant by its state, and to find
// it again, takes milliseconds each time (preempt/loop_probe.h).
//
// Planting is logged, and done again at the same event by a replay. A debugger could not plant breakpoints among what
// a jump covers: when one is about to look, each jump becomes a trap at the instruction alone, which counts as well,
// until the debugger's side counts there itself (replayer/gdb/counting.py).
//
// Only code of files is counted. Private to a process; a fork copies it. Called with the baton.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// True if the instruction at `address` can become a point. `alone`: if a jump covers no other.
bool can_be_counted(std::uint64_t address, bool alone);

// Recording, and nothing else has been logged since the thread was preempted there: makes it one if it can.
void note_counted_loop(std::uint64_t address);
// Replay, where that may have been logged: the same.
void follow_recorded_loop();

// Such a point, where a trap has been reached.
struct CountedPoint {
  std::uint64_t start;  // of the instruction; 0: the trap is none of ours
  bool counted;         // by the stub
};
CountedPoint counted_point_at(std::uint64_t trap_ip);
// Where a thread goes on that is at `start` and has counted: `start` if that is no point any more.
std::uint64_t behind_count(std::uint64_t start);
// True if a debugger counts at `start` instead, where the code is as it was: a thread that has counted already and is
// to go on there says so (Thread::counted_at).
bool debugger_counts(std::uint64_t start);
// What of the flags the stub at `start` does not keep, for the instruction replaces them.
std::uint64_t flags_not_kept(std::uint64_t start);

// Where the instruction is that a stub has for that at `ip`, if a jump covers it and begins before; else `ip`.
std::uint64_t where_counted(std::uint64_t ip);
bool is_counted(std::uint64_t ip);
// True if there is a point in the few instructions around `ip`, or it is in a stub.
bool is_counted_near(std::uint64_t ip);

// The instruction at `ip` of a stub has faulted: the program is to see it in its place, and it stays there. Returns
// that place; `ip` if it is none of a stub's.
std::uint64_t put_back_counted(std::uint64_t ip);

// In the child of a fork, with which no debugger goes: what one counted in the parent is counted here.
void count_without_debugger();

// The code from `start` to `end` becomes what it was.
void remove_counted(std::uint64_t start, std::uint64_t end);

}  // namespace reweave::core
