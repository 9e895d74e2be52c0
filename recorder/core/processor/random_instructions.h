// RDRAND, RDSEED and RDPID as inputs. The processor answers them without asking anybody, and where `cpuid` cannot be
// made to fault (arch_prctl(2), ARCH_CPUID), programs find that they are there. So they are looked for in code when it
// is mapped, and replaced by an instruction that faults.
//
// Without decoding all code a few bytes can be something else: part of an instruction, or a table. What is replaced is
// therefore not the instruction by itself but what programs do with it: it sets the carry flag if it has a value, and
// that is asked, at most after a few moves. By chance this is some 5e-8 a byte of random data, and far less in code.
// Other uses are not found: their replay diverges. RDPID has a byte more, and is taken as it is.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// `at` is that of the bytes 0f c7, with 60 more around them. Has the instruction trapped (trapped.h); false if it is
// another.
bool trap_random_instruction(std::uint64_t at);

// The register that instructions call `number`, 0 to 15.
std::uint64_t& numbered_register(KernelRegisters& registers, std::uint8_t number);

}  // namespace reweave::core
