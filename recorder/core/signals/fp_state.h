// The floating-point state in a signal frame (struct _fpstate, arch/x86/include/uapi/asm/sigcontext.h): the legacy
// area, then the extended state as XSAVE lays it out (Intel SDM, volume 1, chapter 13).
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/fp_layout.h"

namespace reweave::core {

// That of a frame of the kernel's.
FpLayout fp_layout_of(const void* fp_state);

// Size of the state with its end mark; 0 for null.
std::uint64_t fp_state_bytes(const void* fp_state);

// Copies what the processor wrote. The gaps between, which keep whatever was in memory before, become zeros, so that
// the target finds the same in its frames whenever it is run.
void copy_fp_state(std::byte* to, const std::byte* from, std::uint64_t bytes);

// The same as the processor that recorded would have laid it out, in `layout`. False if there is more than the
// components that all processors have at one place, which are SSE and AVX; protection keys are left out.
bool lay_out_fp_state(std::byte* to, const std::byte* from, const FpLayout& layout);

// Makes it the state that a signal handler begins with: all registers initial, but for the protection keys.
void clear_fp_state(std::byte* fp_state, std::uint64_t bytes);

// Makes it what `from` says, a frame of the program's: with the initial values of what is not there. Null says nothing.
// False: the processor would not have it.
bool restore_fp_state(std::byte* fp_state, const std::byte* from);
// The same of one that is laid out so.
bool restore_laid_out(std::byte* fp_state, const std::byte* from, const FpLayout& layout);

// The register PKRU (protection_keys.h); 0 if the state has none.
std::uint32_t protection_keys_in(const std::byte* fp_state, std::uint64_t bytes);
void put_protection_keys(std::byte* fp_state, std::uint64_t bytes, std::uint32_t keys);

}  // namespace reweave::core
