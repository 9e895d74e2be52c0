// What of the processor a recorded program is told, if it is to be replayed on processors that have less
// (RunConfig::processor_level): the levels of the x86-64 psABI, x86-64-v2 to v4, with what all processors of a level
// have besides. Programs ask `cpuid` before they use more; those that do not ask are not changed.
#pragma once

#include <cstdint>

namespace reweave::core {

// Clears what is beyond `level`, 2 to 4, in what cpuid said of `leaf` and `subleaf` (in eax and ecx), in the order eax,
// ebx, ecx, edx. Another level leaves all as it is.
void hide_from_cpuid(std::uint32_t level, std::uint64_t leaf, std::uint64_t subleaf, std::uint64_t (&values)[4]);

}  // namespace reweave::core
