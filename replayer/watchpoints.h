// Whether a debugger's hardware watchpoints do anything on this machine.
#pragma once

namespace reweave {

// Tries one on a process of its own (ptrace(2), PTRACE_POKEUSER of the debug registers). Some hypervisors take the
// registers and never report (PVM was seen), and gdb would wait for ever without a word. True as well where ptrace is
// not allowed, for then gdb has more to say.
bool hardware_watchpoints_work();

}  // namespace reweave
