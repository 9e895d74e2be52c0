// Accesses of printf and scanf to the arguments named by a format. `list` is not consumed.
#pragma once

#include <cstdarg>
#include <cstdint>

namespace reweave::shim {

// Reports the strings that printf reads and the counts that it writes (%n), as accesses of the preceding point.
void tell_printed(const char* format, va_list list, std::uint64_t pc);
// Reports the memory that scanf wrote if it returned `result`.
void tell_scanned(const char* format, va_list list, int result, std::uint64_t pc);

}  // namespace reweave::shim
