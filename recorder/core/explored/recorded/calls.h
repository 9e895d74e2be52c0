// The recorded system calls that answer an explored run: the calls after the place at which the run departed.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline constexpr std::uint32_t kNothing = ~0u;  // no call, file, or contents

// A recorded call, in the list of calls with its number, and in that of the inputs of its file.
struct RecordedCall {
  std::uint64_t offset;  // of its SyscallRecord in the feed
  std::uint64_t
      parts;  // of the first record with parts of its outputs or a change of a file; otherwise equal to `offset`
  std::uint32_t next, next_input;
  std::uint32_t outputs_before;  // of an input: writes to its file before it
  std::uint32_t file;            // the open file to which its descriptor referred (recorded/files.h), or kNothing
  std::uint32_t made;            // the open file that it opened, or kNothing
  std::uint32_t taken;           // of an input: bytes of it that this run has read
  std::uint16_t thread;
  bool used;
};

// Indexes the calls after the feed's current position. Called once, by the fork server.
void index_recorded_calls();

const wire::RecordHeader* record_at(std::uint64_t offset);
const wire::SyscallRecord& record_of(const RecordedCall& call);
RecordedCall& recorded_call_at(std::uint32_t index);

// The first call with that number; next_recorded gives the others. Null: there are no more.
RecordedCall* first_recorded(long number);
RecordedCall* next_recorded(const RecordedCall& call);
// Likewise for the inputs of the open file: calls that read from it, or accepted a connection on it.
RecordedCall* first_input(std::uint32_t file);
RecordedCall* next_input(const RecordedCall& call);

// The call that answers `call`: not used yet, with the same file, names and numbers, and with outputs that fit; if
// possible the recorded thread's own. A call that only reads state, or opens a file for reading, may get a used one.
// Null: there is none.
RecordedCall* find_recorded(const Call& call);

// The next recorded signal from outside; null: there are no more. It remains the next until it is taken.
const wire::SignalRecord* next_outside_signal();
void take_outside_signal();

}  // namespace reweave::core
