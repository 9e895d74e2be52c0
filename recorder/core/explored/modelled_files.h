// Descriptors of explored runs that lead to what the run has to itself: pipes, event counters, pairs of sockets
// (channels.h), and epoll instances. Their calls are carried out here, never by the kernel and never from the
// recording, whose part is only the numbers of new descriptors.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/descriptor_tables.h"
#include "recorder/core/explored/recorded_files.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// Answers the call if its row has a function for this step of the search for an answer.
inline bool answer_at(ExploredStep step, Call& call, long& result) {
  return call.row->step == step && call.row->explored(call, result);
}

// Answers the call if it is about such a descriptor, or makes one.
bool model_file_call(Call& call, long& result);
// True if the call is about such a descriptor. Policies see all of these as operations on one object, for a poll may
// look at any number of them; this is its name.
bool is_file_operation(const Call& call);
std::uint64_t file_object();

// A number for a new descriptor: the one that the recording has for this call, if it can be used. -ENFILE: none is
// left.
long new_descriptor(const Call& call, const Descriptor& descriptor, bool closes_on_exec);

// A number for `file`, which an answer of the recording opened as `fd`: that one, unless it is another's in this run.
long take_outside_number(const Call& call, long fd, std::uint32_t file, bool closes_on_exec);

}  // namespace reweave::core
