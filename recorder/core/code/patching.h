// Makes hot system calls without a signal. After a `syscall` instruction was executed a few times, the core replaces
// it, or the instruction before it, by a jump to a stub. The stub enters the core as the signal would have (entry.S,
// api_call). Syscall User Dispatch still handles all other calls, and calls that need the kernel's signal frame.
//
// Two forms of code are recognised; no other is changed:
//   mov $number, %eax; syscall      the mov becomes the jump; the `syscall` stays where it is
//   syscall; cmp $constant, %rax    both become the jump, the stub compares; nothing nearby may jump to the cmp
// Hot reads of the time stamp counter (tsc.h) are patched in the same way. The jump replaces the `rdtsc` or `rdtscp`
// and its surroundings if these can be moved (clock_window.h) and nothing may jump into them. If the read is the whole
// of a function, a jump has no room; then each hot direct call of it is made a call of a copy. All other reads still
// fault. A patch is logged and replayed at the same event, so that the code is the same in both runs. A debugged replay
// does without patches, because a debugger sets breakpoints at return addresses of calls. Explored runs log no patches,
// and their replays have none: the fork server patches the places that earlier runs reached, so that a run has hardly
// any signals. Each process has its own patches; a fork copies them. Thread rule: the caller has the baton, so no other
// thread executes the code while it is written.
//
// Only code from files is patched: a compiler changes and copies the code that it has generated.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Restores the process's original code, because it is about to be inspected; it stays unpatched while threads of the
// process are traced.
void remove_patches();
// Does the same for a range that the program may be about to write to or move. Hot places in the range are patched
// again after the range contains code again.
void remove_patches(std::uint64_t start, std::uint64_t end);

// SIGSYS came from call `number`, which returns to `after`: counts it, and patches it if it is hot. Replay: as
// recorded.
void note_call_site(std::uint64_t after, long number);

// The same for an `rdtsc` or `rdtscp` before `after`, which faulted for the thread with these registers.
void note_clock_site(std::uint64_t after, const KernelRegisters& registers);

// Replaces the `pause` that ends at `after`, in a loop in which a thread waits, by an instruction that faults. Each
// fault is a schedule point at which the thread gives way. Without this, detecting each wait takes milliseconds. Logged
// like the other patches. A debugged replay also does it, because these schedule points count.
void note_pause_site(std::uint64_t after);
// Replay: repeats note_pause_site if the next record of this thread is its log entry. Call it where recording may have
// called note_pause_site.
void follow_recorded_pause();
// Returns the address after the patched `pause` at `ip`; 0 if `ip` is not a `pause` that note_pause_site has patched.
std::uint64_t address_after_pause(std::uint64_t ip);

// Fork server, between two runs: patches the places that a run reported.
void patch_trapped_sites(const TrappedSite* sites, std::uint32_t count);

// Returns the address at which a thread that returns to `ip` continues; it differs from `ip` if a patch covers that
// place.
std::uint64_t landing(std::uint64_t ip);

// The same for a thread stopped at `ip`, between any two instructions.
std::uint64_t where_moved(std::uint64_t ip);

// An instruction of the target has faulted: if it was executed in a stub, restores it at its original place.
void leave_stub(KernelRegisters& registers);

// True if a patch covers `ip`.
bool is_patched(std::uint64_t ip);

// For a call through a stub that needs the kernel's signal frame after all: it jumps to trap_address(), where a
// `syscall` instruction causes SIGSYS. / True if `context` is that signal's.
std::uint64_t trap_address();
bool is_trap(const KernelContext& context);

}  // namespace reweave::core
