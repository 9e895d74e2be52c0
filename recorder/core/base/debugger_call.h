// A debugger has a thread of a replay call a function of the program: `print f(x)` in gdb. Nothing of that is in the
// recording, and all that it changes is taken back afterwards (replayer/gdb/excursion.py).
#pragma once

#include <cstdint>

// Hidden, for without it the compiler would go through a table that a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern std::uint32_t core_debugger_call;  // not 0 meanwhile; the debugger writes it
}
#pragma GCC visibility pop

namespace reweave::core {

inline bool called_by_debugger() { return *const_cast<volatile std::uint32_t*>(&core_debugger_call) != 0; }

// Where the addresses are that such functions get for new memory.
inline constexpr std::uint64_t kDebuggerMemory = 0x6200'0000'0000;
inline constexpr std::uint64_t kDebuggerMemoryBytes = std::uint64_t{1} << 40;

// The function cannot go on, for the reason given. A debugger reads the reason here; the trap that follows makes
// it abandon the call.
[[noreturn]] void give_up_debugger_call(const char* why) asm("core_give_up_call");

}  // namespace reweave::core
