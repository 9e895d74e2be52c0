// Hot system calls without a signal: a `syscall` instruction that was executed a few times is preceded or replaced by a
// jump to a stub of ours, which enters the core as the signal would have (entry.S, api_call). Syscall User Dispatch
// remains for all others, and for calls that need the kernel's signal frame.
//
// Two forms of code are known; no other is touched:
//   mov $number, %eax; syscall      the mov becomes the jump; the `syscall` stays where it is
//   syscall; cmp $constant, %rax    both become the jump, the stub compares; nothing nearby may jump to the cmp
// Hot reads of the time stamp counter (tsc.h) likewise: `rdtsc` or `rdtscp` and what is around it become the jump if
// that can be moved (clock_window.h) and nothing may jump to it; a fault remains for all others. A patch is logged,
// and replayed at the same event, so that the code is the same in both runs; a debugged replay does without, for a
// debugger plants breakpoints where calls return to. Explored runs log none, and their replays do without: the fork
// server patches what earlier runs came by, so that a run has hardly any signals. Private to a process; a fork copies
// it. Called with the baton, so no other thread executes what is written.
//
// Only code of files is patched: a compiler changes and copies what it has made.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// The code of the process becomes what it was without patches, for somebody is going to look at it, and remains so
// while its threads are traced.
void remove_patches();
// The same of the code in a range, which the program may be about to write to or to move. What is hot there is patched
// again when it is code again.
void remove_patches(std::uint64_t start, std::uint64_t end);

// SIGSYS came from call `number` that returns to `after`: counts it, and patches it if that is due. Replay: as
// recorded.
void note_call_site(std::uint64_t after, long number);

// The same of an `rdtsc` or `rdtscp` before `after`, which faulted for the thread whose registers these are.
void note_clock_site(std::uint64_t after, const KernelRegisters& registers);

// `after` is behind a `pause` of a loop in which a thread waits. That instruction is what such loops are made of, so
// from here on it faults instead, and is a schedule point at which the thread gives way: to find out anew each time
// that it waits takes milliseconds. Logged like the others; a debugged replay does the same, for its schedule points
// count.
void note_pause_site(std::uint64_t after);
// Replay, where that may have been logged: the same.
void follow_recorded_pause();
// Where the `pause` at `ip` ends, which faulted because of that; 0 if it is another instruction.
std::uint64_t behind_pause(std::uint64_t ip);

// Fork server, between two runs: patches the places that a run told of.
void patch_trapped_sites(const TrappedSite* sites, std::uint32_t count);

// Where a thread goes on that is to return to `ip`: elsewhere if a patch covers that place.
std::uint64_t landing(std::uint64_t ip);

// The same for a thread that was stopped at `ip`, between any two instructions.
std::uint64_t where_moved(std::uint64_t ip);

// An instruction of the target's has faulted: if it is executed in a stub, it is put back in its place.
void leave_stub(KernelRegisters& registers);

// True if `ip` is where a patch is.
bool is_patched(std::uint64_t ip);

// A call through a stub that needs the kernel's signal frame after all: it jumps to trap_address(), where a `syscall`
// instruction causes SIGSYS. True if `context` is of that signal.
std::uint64_t trap_address();
bool is_trap(const KernelContext& context);

}  // namespace reweave::core
