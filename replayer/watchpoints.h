// Tests whether hardware watchpoints work on this machine.
#pragma once

namespace reweave {

// True if hardware watchpoints work: tries one on a child process (ptrace(2), PTRACE_POKEUSER of the debug registers).
// Some hypervisors (seen: PVM) accept the registers but never report a hit, and gdb would wait forever without a
// message. Also true where ptrace is not allowed, because gdb then reports that itself.
bool hardware_watchpoints_work();

}  // namespace reweave
