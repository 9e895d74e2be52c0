// RDRAND, RDSEED and RDPID as inputs. The processor executes them without a system call, and where `cpuid` cannot be
// made to fault (arch_prctl(2), ARCH_CPUID) programs find that they exist. So they are searched for in code when it is
// mapped, and replaced by an instruction that faults.
//
// Without decoding all code, a few bytes can be something else: part of an instruction, or a table. So the search is
// for the instruction together with its usual context: it sets the carry flag if it has a value, and the program tests
// that flag after at most a few moves. The probability of a false match is some 5e-8 per byte of random data, and far
// less in code. Other uses are not found, and their replay diverges. RDPID is one byte longer and is matched by itself.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// `at` is the address of the bytes 0f c7, with 60 more bytes around them. Traps the instruction (trapped.h); false if
// it is another one.
bool trap_random_instruction(std::uint64_t at);

// The register with the instruction encoding `number`, 0 to 15.
std::uint64_t& numbered_register(KernelRegisters& registers, std::uint8_t number);

}  // namespace reweave::core
