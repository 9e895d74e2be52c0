// What this machine does that another may not, found out by trying.
#pragma once

namespace reweave::core {

// Finds out whether reads of the time stamp counter fault (RuntimeState::clock_reads_pass). Logs how frames of signals
// are laid out, and that cpuid is recorded; or learns both. In the first thread of a run, when it has its stack for
// signals.
void try_machine();

}  // namespace reweave::core
