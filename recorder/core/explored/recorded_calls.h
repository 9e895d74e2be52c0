// The recorded system calls that an explored run is answered from: those behind the place where it departed.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline constexpr std::uint32_t kNothing = ~0u;  // no call, file, or contents

// A recorded call, in a list of those with its number, and in one of the inputs of its file.
struct RecordedCall {
  std::uint64_t offset;  // of its SyscallRecord in the feed
  std::uint64_t parts;   // of the first record with parts of its outputs or a change of a file, or `offset`
  std::uint32_t next, next_input;
  std::uint32_t outputs_before;  // of an input: writes to its file before it
  std::uint32_t file;            // the open file that its descriptor led to (recorded_files.h), or kNothing
  std::uint32_t made;            // the open file that it made, or kNothing
  std::uint32_t taken;           // of an input: bytes that reads of this run have had of it
  std::uint16_t thread;
  bool used;
};

// Indexes the calls from the feed's present position on. Called once, by the fork server.
void index_recorded_calls();

const wire::RecordHeader* record_at(std::uint64_t offset);
const wire::SyscallRecord& record_of(const RecordedCall& call);
RecordedCall& recorded_call_at(std::uint32_t index);

// The first with that number; from it on by next_recorded. Null: there is none (left).
RecordedCall* first_recorded(long number);
RecordedCall* next_recorded(const RecordedCall& call);
// The first input of the open file: what read from it, or waited for a connection on it, likewise.
RecordedCall* first_input(std::uint32_t file);
RecordedCall* next_input(const RecordedCall& call);

// The call that answers `call`: not used yet, about the same file, name and numbers, with outputs that fit; if possible
// the recorded thread's own. Of calls that only look, or say the same again, one that was used will do. Null: there is
// none.
RecordedCall* find_recorded(const Call& call);

// The next recorded signal from outside; null: none came any more. It stays the next until it is taken.
const wire::SignalRecord* next_outside_signal();
void take_outside_signal();

}  // namespace reweave::core
