// A debugger makes a thread of a replay call a function of the program (`print f(x)` in gdb). The recording has nothing
// about such a call, and all its changes are undone afterwards (replayer/gdb/excursion.py).
#pragma once

#include <cstdint>

// Hidden: otherwise the compiler would access it through a GOT, which a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern std::uint32_t core_debugger_call;  // non-zero during such a call; written by the debugger
}
#pragma GCC visibility pop

namespace reweave::core {

inline bool called_by_debugger() { return *const_cast<volatile std::uint32_t*>(&core_debugger_call) != 0; }

// The range from which new mappings come during such a call.
inline constexpr std::uint64_t kDebuggerMemory = 0x6200'0000'0000;
inline constexpr std::uint64_t kDebuggerMemoryBytes = std::uint64_t{1} << 40;

// Abandons the call for the reason given. The debugger reads the reason from this function's argument when the trap in
// it is hit.
[[noreturn]] void give_up_debugger_call(const char* why) asm("core_give_up_call");

}  // namespace reweave::core
