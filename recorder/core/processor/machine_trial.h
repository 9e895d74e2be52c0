// Tests for properties in which machines differ.
#pragma once

namespace reweave::core {

// Finds out whether reads of the time stamp counter fault (RuntimeState::clock_reads_pass). Logs the layout of signal
// frames and that cpuid is recorded; a replay takes both from the recording. Called in the first thread of a run, once
// its alternate signal stack exists.
void try_machine();

}  // namespace reweave::core
