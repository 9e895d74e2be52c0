// Hides processor features from a recorded program, so that it can be replayed on processors with fewer
// (RunConfig::processor_level): the levels x86-64-v2 to v4 of the x86-64 psABI, plus what all processors of a level
// have. Programs ask `cpuid` before they use more; programs that do not ask are unaffected.
#pragma once

#include <cstdint>

namespace reweave::core {

// Clears what exceeds `level`, 2 to 4, in cpuid's answer to `leaf` and `subleaf` (eax and ecx), in the order eax, ebx,
// ecx, edx. Any other level changes nothing.
void hide_from_cpuid(std::uint32_t level, std::uint64_t leaf, std::uint64_t subleaf, std::uint64_t (&values)[4]);

}  // namespace reweave::core
