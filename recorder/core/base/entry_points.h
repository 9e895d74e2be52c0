// Where the target enters the core: the handlers of signals, and what patched code calls. Each is defined by the room
// named behind it, and is known to the rooms below only as an address.
#pragma once

#include <cstdint>

namespace reweave::core {

struct KernelContext;

extern "C" {
// SIGSYS: a system call of the target (core/dispatch.cc).
[[gnu::visibility("hidden")]] void core_on_sigsys(int number, void* info, void* context);
// A synchronous signal; also one that was sent (core/faults.cc).
[[gnu::visibility("hidden")]] void core_on_fault(int number, void* info, void* context);
// A signal from outside: queues it for the interrupted thread (core/signals/signals.cc).
[[gnu::visibility("hidden")]] void core_on_asynchronous(int number, void* info, void* context);
// Recording: a terminal's stop signal whose action is the default (core/signals/stops.cc).
[[gnu::visibility("hidden")]] void core_on_stop(int number, void* info, void* context);
// The watchdog's signal; also the target's own signal of that number (core/preempt/loop_probe.cc).
[[gnu::visibility("hidden")]] void core_on_watchdog(int number, void* info, void* context);
// A patched system call (patching.h), of which `context` has all but the floating-point state. Returns where the thread
// goes on with the registers that `context` then holds: at `resume`, or at trap_address() (core/dispatch.cc).
[[gnu::visibility("hidden")]] std::uint64_t core_on_patched_call(KernelContext& context, std::uint64_t resume);
}

}  // namespace reweave::core
