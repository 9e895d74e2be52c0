// Descriptors of explored runs that lead to what the run has to itself: pipes, event counters, pairs of sockets
// (channels.h), and epoll instances. Their calls are carried out here, never by the kernel and never from the
// recording, whose part is only the numbers of new descriptors.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/recorded_files.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

struct Poller;  // an epoll instance (modelled_polls.cc)

// What a descriptor of the program leads to.
enum class FileOf : std::uint8_t { kOutside, kChannel, kPoller, kClosed };
struct Descriptor {
  FileOf kind;
  bool closes_on_exec;
  ChannelFile* channel;
  Poller* poller;
  std::uint32_t opened;  // outside: the recorded file (recorded_files.h) that this run's call opened, plus one; 0: none
};
// Answers the call if its row has a function for this step of the search for an answer.
inline bool answer_at(ExploredStep step, Call& call, long& result) {
  return call.row->step == step && call.row->explored(call, result);
}

// Null: such a number cannot be open.
Descriptor* descriptor_at(long fd);

// Answers the call if it is about such a descriptor, or makes one.
bool model_file_call(Call& call, long& result);
// True if the call is about such a descriptor. Policies see all of these as operations on one object, for a poll may
// look at any number of them; this is its name.
bool is_file_operation(const Call& call);
std::uint64_t file_object();

// The call asks for the status of what its descriptor leads to.
bool tells_own_status(const Call& call);

// A number for a new descriptor: the one that the recording has for this call, if it can be used. -ENFILE: none is
// left.
long new_descriptor(const Call& call, const Descriptor& descriptor, bool closes_on_exec);

// Some descriptor leads to a pipe, a socket or an event counter of the run's own.
bool has_channels();

// The recorded file that the descriptor leads to; kNothing: it leads to none, or to something of the run's own.
std::uint32_t file_of(long fd);
// A number for `file`, which an answer of the recording opened as `fd`: that one, unless it is another's in this run.
long take_outside_number(const Call& call, long fd, std::uint32_t file);

// Ends the run: the model lacks what the call asks for.
[[noreturn]] void leave_recording(const Call& call, const char* why);

}  // namespace reweave::core
