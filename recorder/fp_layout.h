// The layout that a processor and its kernel give the floating-point state in a signal frame (struct _fpx_sw_bytes in
// arch/x86/include/uapi/asm/sigcontext.h). All 0: unknown.
#pragma once

#include <cstdint>

namespace reweave {

struct FpLayout {
  std::uint32_t extended_bytes;  // including the end mark
  std::uint32_t bytes;
  std::uint64_t components;  // possible components, as bits of XCR0
  std::uint64_t mxcsr_mask;
  bool operator==(const FpLayout&) const = default;
};

}  // namespace reweave
