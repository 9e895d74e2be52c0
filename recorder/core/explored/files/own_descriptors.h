// Descriptors of explored runs that refer to objects of the run's own: pipes, event counters, socket pairs
// (channels.h), and epoll instances. Their calls are carried out here, never by the kernel or from the recording, which
// only supplies the numbers of new descriptors.
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/files/descriptor_tables.h"
#include "recorder/core/explored/recorded/files.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// Answers the call if its row has a function for this step of the search for an answer.
inline bool answer_at(ExploredStep step, Call& call, long& result) {
  return call.row->step == step && call.row->explored(call, result);
}

// Answers the call if it concerns such a descriptor, or creates one.
bool model_file_call(Call& call, long& result);
// True if the call concerns such a descriptor. Policies see all of these as operations on one object, file_object(),
// because a poll may look at any number of them.
bool is_file_operation(const Call& call);
std::uint64_t file_object();

// A number for a new descriptor: the one recorded for this call, if it can be used. -ENFILE: there is none.
long new_descriptor(const Call& call, const Descriptor& descriptor, bool closes_on_exec);

// A number for `file`, which a recorded answer opened as `fd`: that one, unless this run uses it otherwise.
long take_outside_number(const Call& call, long fd, std::uint32_t file, bool closes_on_exec);

}  // namespace reweave::core
