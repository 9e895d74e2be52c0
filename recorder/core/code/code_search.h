// Searches code for byte pairs that few instructions have, sixteen bytes at a time. Every file with code that a program
// maps is searched; a byte at a time took longer than everything else in starting a program.
#pragma once

#include <cstdint>

namespace reweave::core {

// The first place in [at, end) with one of these byte pairs, or `end`. The byte at `end` must be readable too.
//   0f c7, 0f ae          RDRAND, RDSEED and RDPID; bases of segments; saves of vector registers are both
//   0f 31, 0f 01, 0f a2   rdtsc; rdtscp and xgetbv; cpuid
//   60 ff                 the upper half of an address in the vsyscall page
std::uint64_t find_rare_pair(std::uint64_t at, std::uint64_t end);

}  // namespace reweave::core
