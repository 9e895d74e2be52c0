// Reads of the time stamp counter where PR_SET_TSC has no effect. The kernel says that it has, but some hypervisors run
// it where it cannot forbid the instruction (PVM was seen: its guests' kernels are not privileged). There the
// instructions are looked for in code when it is mapped, as those are that never fault (random_instructions.h), and
// replaced by one that does. What is not found, as in code that a program makes itself, is an input that nobody
// records: its replay diverges.
#pragma once

#include "recorder/core/kernel_types.h"

namespace reweave::core {

// Finds out whether reads of the counter fault, in the first thread of a run when its signal handlers are there.
void try_clock_fault();

// Where they do not: code of a file was mapped there, as a region of the address space. True if some was replaced.
bool trap_clock_reads(std::uint64_t start, std::uint64_t end);

// Bytes of the instruction that was replaced at `ip`, or 0.
std::uint64_t trapped_clock_bytes(std::uint64_t ip);

// If the instruction that caused SIGILL is one of those, and the program asked for a fault: changes `number` and `info`
// (a siginfo_t) to what the kernel sends then.
void show_clock_fault(const KernelContext& context, int& number, const void*& info);

}  // namespace reweave::core
