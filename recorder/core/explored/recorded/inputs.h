// Input from outside of an explored run: connections and bytes on descriptors that lead outside, and signals. Each
// descriptor gets its recorded inputs in order. An input that the recorded program received after n writes to the same
// descriptor arrives after n writes of the run, or when every thread waits.
#pragma once

#include "recorder/core/explored/recorded/files.h"

namespace reweave::core {

// True if the system call `number` reads from a descriptor or accepts a connection. / True if it writes to a
// descriptor.
bool hears_outside(long number);
bool sends_outside(long number);

// True if a call that reads from the recorded file would find something, or its end.
bool outside_readable(std::uint32_t file);
// Returns a number that changes when something new can be read.
std::uint64_t outside_changes(std::uint32_t file);
// Called when the program is told that it can read: its next call gets the next input, not a recorded answer that came
// too early (such as -EAGAIN).
void expect_input(std::uint32_t file);
void note_output(std::uint32_t file);

// No thread can run: the outside continues without the answer that it waited for. True if the file can be read now.
bool hurry_input(std::uint32_t file);

// True if a thread of the recorded run sent such a signal.
bool is_sent_by_program(long signal);

// No thread can run: delivers a signal from outside if it is due or, with `late`, if there is one at all. True if a
// thread can run now.
bool signal_from_outside(bool late);

}  // namespace reweave::core
