// What comes from outside of an explored run: connections and bytes on descriptors that lead there, and signals. Each
// descriptor has what was recorded of it, in that order; an input that followed upon writes to the same descriptor
// comes when as many were made, or when everybody waits.
#pragma once

#include "recorder/core/explored/recorded_files.h"

namespace reweave::core {

// System calls that read from a descriptor or take a connection; that write to one.
bool hears_outside(long number);
bool sends_outside(long number);

// A call that reads from the recorded file would find something, or its end.
bool outside_readable(std::uint32_t file);
// Changes when something else can be read than before.
std::uint64_t outside_changes(std::uint32_t file);
// The program is told that it can read: the next call does so, and not one that was recorded as too early.
void expect_input(std::uint32_t file);
void note_output(std::uint32_t file);

// Nobody can run. Somebody outside who waited for an answer goes on without it: true if the file can be read now.
bool hurry_input(std::uint32_t file);

// Some thread of the recorded run sent such a signal.
bool is_sent_by_program(long signal);

// Nobody can run: a signal from outside comes, if it is its turn or, with `late`, if there is one at all. True if
// somebody can run now.
bool signal_from_outside(bool late);

}  // namespace reweave::core
