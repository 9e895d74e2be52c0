// The recorded system calls that an explored run is answered from: those behind the place where it departed.
#pragma once

#include "recorder/core/syscalls/dispatch.h"

namespace reweave::core {

inline constexpr std::uint32_t kNoCall = ~0u;

// A recorded call, in a list of those with its number, and in one of those that read from its descriptor.
struct RecordedCall {
  std::uint64_t offset;  // of its SyscallRecord in the feed
  std::uint64_t parts;   // of the first record with parts of its outputs or a change of a file, or `offset`
  std::uint32_t next, next_input;
  std::uint32_t outputs_before;  // of an input, or a call that made a descriptor: writes to that descriptor before it
  std::uint16_t thread;
  bool used;
};

// Indexes the calls from the feed's present position on. Called once, by the fork server.
void index_recorded_calls();

const wire::RecordHeader* record_at(std::uint64_t offset);
const wire::SyscallRecord& record_of(const RecordedCall& call);

// The first with that number; from it on by next_recorded. Null: there is none (left).
RecordedCall* first_recorded(long number);
RecordedCall* next_recorded(const RecordedCall& call);
// The first that read from the descriptor, or waited for a connection on it, likewise.
RecordedCall* first_input(long fd);
RecordedCall* next_input(const RecordedCall& call);

// The call that answers `call`: not used yet, if possible the recorded thread's own. Null: there is none.
RecordedCall* find_recorded(const Call& call);

// The descriptor that an answered call made: what was recorded of others with its number is not this one's.
void note_opened(const RecordedCall& call, long fd);
bool is_of_open_file(const RecordedCall& call, long fd);

// Some recorded write to the descriptor changed a file that is mapped.
bool writes_mapped_file(long fd);

// Some recorded call had this descriptor, or made it.
bool is_recorded_descriptor(long fd);

// The next recorded signal from outside; null: none came any more. It stays the next until it is taken.
const wire::SignalRecord* next_outside_signal();
void take_outside_signal();

}  // namespace reweave::core
