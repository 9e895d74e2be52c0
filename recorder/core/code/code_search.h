// Looks through code for what few instructions have, sixteen bytes at a time: every file with code that a program maps
// is looked through, and a byte at a time that took longer than all else that starts a program.
#pragma once

#include <cstdint>

namespace reweave::core {

// The first place in [at, end) of one of these pairs of bytes, or `end`. The byte at `end` must be there, too.
//   0f c7, 0f ae          RDRAND, RDSEED and RDPID; bases of segments; saves of vector registers are both
//   0f 31, 0f 01, 0f a2   rdtsc; rdtscp and xgetbv; cpuid
//   60 ff                 the upper half of an address in the vsyscall page
std::uint64_t find_rare_pair(std::uint64_t at, std::uint64_t end);

}  // namespace reweave::core
