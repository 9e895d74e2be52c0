// The floating-point state in a signal frame (struct _fpstate, arch/x86/include/uapi/asm/sigcontext.h): the legacy
// area, then the extended state as XSAVE lays it out (Intel SDM, volume 1, chapter 13).
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/fp_layout.h"

namespace reweave::core {

// The layout of the state in a signal frame made by the kernel.
FpLayout fp_layout_of(const void* fp_state);

// Size of the state, including its end mark; 0 for null.
std::uint64_t fp_state_bytes(const void* fp_state);

// Copies the state that the processor wrote. The gaps between components hold old memory contents; they become zeros,
// so that the target finds the same frame contents in every run.
void copy_fp_state(std::byte* to, const std::byte* from, std::uint64_t bytes);

// Copies the state in the layout that the recording processor used. Returns false if state is in use beyond SSE and
// AVX, the components that all processors keep at the same offset. Protection keys are left out.
bool lay_out_fp_state(std::byte* to, const std::byte* from, const FpLayout& layout);

// Sets the state with which a signal handler starts: all registers initial, except for the protection keys.
void clear_fp_state(std::byte* fp_state, std::uint64_t bytes);

// Sets the state from `from`, a frame of the program's. Components missing there get their initial values; null changes
// nothing. False if the processor would reject the frame.
bool restore_fp_state(std::byte* fp_state, const std::byte* from);
// The same for a frame in `layout`.
bool restore_laid_out(std::byte* fp_state, const std::byte* from, const FpLayout& layout);

// The register PKRU (protection_keys.h); 0 if the state has none.
std::uint32_t protection_keys_in(const std::byte* fp_state, std::uint64_t bytes);
void put_protection_keys(std::byte* fp_state, std::uint64_t bytes, std::uint32_t keys);

}  // namespace reweave::core
