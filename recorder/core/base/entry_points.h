// The functions by which the target enters the core: signal handlers and the target of patched code. Each is defined in
// the file named in its comment; lower folders know only its address.
#pragma once

#include <cstdint>

namespace reweave::core {

struct KernelContext;

extern "C" {
// SIGSYS: a system call of the target (core/dispatch.cc).
[[gnu::visibility("hidden")]] void core_on_sigsys(int number, void* info, void* context);
// A synchronous signal, raised by a fault or sent by a process (core/faults.cc).
[[gnu::visibility("hidden")]] void core_on_fault(int number, void* info, void* context);
// A signal from outside: queues it for the interrupted thread (core/signals/signals.cc).
[[gnu::visibility("hidden")]] void core_on_asynchronous(int number, void* info, void* context);
// Recording: a terminal's stop signal with the default action (core/signals/stops.cc).
[[gnu::visibility("hidden")]] void core_on_stop(int number, void* info, void* context);
// The watchdog's signal; also the target's own use of that signal number (core/preempt/loop_probe.cc).
[[gnu::visibility("hidden")]] void core_on_watchdog(int number, void* info, void* context);
// A patched system call (patching.h). `context` holds everything but the floating-point state. Returns where the thread
// continues, with the registers then in `context`: `resume` or trap_address() (core/dispatch.cc).
[[gnu::visibility("hidden")]] std::uint64_t core_on_patched_call(KernelContext& context, std::uint64_t resume);
}

}  // namespace reweave::core
