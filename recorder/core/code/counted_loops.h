// Loops of plain code in which a thread was preempted. From then on one of their instructions is a schedule point: it
// is replaced by a jump to a stub, which counts like calls of the shim and continues. So later preemptions and signals
// there have a number, which a replay reaches by counting as well. Naming such an instant by its state and finding it
// again takes milliseconds each time (preempt/loop_probe.h).
//
// Planting a jump is logged, and a replay repeats it at the same event. A debugger could not set breakpoints among
// instructions that a jump covers. So when a debugger is about to take control, each jump is replaced by a trap at the
// counted instruction. The trap counts as well, until the debugger's side counts there itself
// (replayer/gdb/counting.py).
//
// Only code from files is counted. Private to a process; a fork copies it. Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// True if the instruction at `address` can become a point. `alone`: only if a jump covers no other instruction.
bool can_be_counted(std::uint64_t address, bool alone);

// Recording, when nothing was logged since the thread was preempted in a loop: makes the loop a schedule point if
// possible.
void note_counted_loop(std::uint64_t address);
// Replay: repeats note_counted_loop if the next record of this thread is its log entry. Call it where recording may
// have called note_counted_loop.
void follow_recorded_loop();

// A point at which a trap was hit.
struct CountedPoint {
  std::uint64_t start;  // of the instruction; 0: the trap is not one of these
  bool counted;         // the stub has counted it already
};
CountedPoint counted_point_at(std::uint64_t trap_ip);
// Returns the address at which a thread continues after counting at `start`; `start` if that is no longer a point.
std::uint64_t address_after_count(std::uint64_t start);
// True if a debugger counts at `start` instead; then the original code is in place. A thread that continues there and
// has counted already notes that in Thread::counted_at.
bool debugger_counts(std::uint64_t start);
// The flags that the stub at `start` does not preserve, because the instruction overwrites them.
std::uint64_t flags_not_kept(std::uint64_t start);

// The address in a stub of the copy of the instruction at `ip`, if a jump that begins earlier covers it; else `ip`.
std::uint64_t where_counted(std::uint64_t ip);
bool is_counted(std::uint64_t ip);
// True if there is a point within a few instructions of `ip`, or `ip` is in a stub.
bool is_counted_near(std::uint64_t ip);

// The instruction at `ip` in a stub has faulted. Restores the original code, so that the program sees the fault at the
// original place. Returns that place; `ip` if it is not in a stub.
std::uint64_t put_back_counted(std::uint64_t ip);

// In the child of a fork, which no debugger follows: counts here what the debugger counted in the parent.
void count_without_debugger();

// Restores the original code from `start` to `end`.
void remove_counted(std::uint64_t start, std::uint64_t end);

}  // namespace reweave::core
