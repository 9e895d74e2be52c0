// Input from outside of an explored run: connections and bytes on descriptors that lead outside, and signals. Each
// descriptor gets its recorded inputs in order. An input that followed writes to the same descriptor arrives after as
// many writes, or when every thread waits.
#pragma once

#include "recorder/core/explored/recorded/files.h"

namespace reweave::core {

// Whether a system call reads from a descriptor or accepts a connection; whether it writes to one.
bool hears_outside(long number);
bool sends_outside(long number);

// True if a call that reads from the recorded file would find something, or its end.
bool outside_readable(std::uint32_t file);
// Changes when something new can be read.
std::uint64_t outside_changes(std::uint32_t file);
// The program is told that it can read: its next call does so, and is not answered by one recorded as too early.
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
