// Reads of the time stamp counter where PR_SET_TSC has no effect. The kernel says that it has, but some hypervisors run
// it where it cannot forbid the instruction (PVM was seen: its guests' kernels are not privileged). There the
// instructions are looked for in code when it is mapped, as those are that never fault (random_instructions.h), and
// replaced by one that does. `cpuid` with them: such a hypervisor lets it tell of the processor that the guest happens
// to run on, which changes from one moment to the next (APIC id). A recording says if it has these answers.
//
// What is not found, as in code that a program makes itself, is an input that nobody records: its replay diverges.
#pragma once

#include "recorder/core/kernel_types.h"

namespace reweave::core {

// Finds out whether reads of the counter fault, and decides or learns whether cpuid is recorded. In the first thread of
// a run, when it has its stack for signals.
void decide_input_traps();

// Code of a file was mapped there, as a region of the address space. True if some of it was replaced.
bool trap_inputs(std::uint64_t start, std::uint64_t end);

// True if trap_inputs() does anything, and finds all that a recording can have.
bool traps_all_inputs();

// Bytes of the read of the counter that was replaced at `ip`, or 0.
std::uint64_t trapped_clock_bytes(std::uint64_t ip);

// If the faulting instruction is a cpuid that was replaced: gives it a logged answer, steps over it, returns true.
bool emulate_cpuid(KernelContext& context);

// If the instruction that caused SIGILL reads the counter, and the program asked for a fault: changes `number` and
// `info` (a siginfo_t) to what the kernel sends then.
void show_clock_fault(const KernelContext& context, int& number, const void*& info);

}  // namespace reweave::core
