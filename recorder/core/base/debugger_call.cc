#include "recorder/core/base/debugger_call.h"

extern "C" {
std::uint32_t core_debugger_call;
}

namespace reweave::core {

__attribute__((noinline)) void give_up_debugger_call(const char* why) {
  // gdb cannot tell an int3 in the code from a breakpoint of its own at the same address, hence the nop.
  for (;;) asm volatile("nop; int3" ::"D"(why));
}

}  // namespace reweave::core
