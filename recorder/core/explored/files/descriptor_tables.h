// The descriptors of an explored run: what each number refers to, in a table that threads may share
// (syscalls/files/fd_sharing.h).
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct ChannelFile;  // channels.h
struct Poller;       // an epoll instance (files/polls.cc)

// The kinds of files that a descriptor of the program can refer to.
enum class FileOf : std::uint8_t { kOutside, kChannel, kPoller, kClosed };
struct Descriptor {
  FileOf kind;
  bool closes_on_exec;
  ChannelFile* channel;
  Poller* poller;
  std::uint32_t opened;  // outside: the recorded file (recorded/files.h) that this run's call opened, plus one; 0: none
};
struct DescriptorTable {
  std::uint32_t used;  // from here on all are as at the start of the run
  Descriptor at[kMaxFds];
};

// The table with that number (Thread::fd_table).
DescriptorTable& descriptor_table(std::uint32_t index);
// The same for a table that is not the run's first; created if necessary. Null: there is no room.
DescriptorTable* further_table(std::uint32_t index);

// The entry of `fd` in that table, or in the calling thread's. Null if no descriptor can have this number.
Descriptor* descriptor_at(DescriptorTable& table, long fd);
Descriptor* descriptor_at(long fd);
// From now on `fd` of the calling thread refers to `descriptor`. What it referred to must have been released.
void occupy(long fd, const Descriptor& descriptor, bool closes_on_exec);

// True if the number is unused.
bool number_is_free(long fd);
// The lowest number from `least` on that neither this process nor the recorded run uses. -ENFILE: there is none.
long unused_number(long least);

// The recorded file that it refers to; kNothing: none, or something of the run's own.
std::uint32_t file_of(const Descriptor& descriptor, long fd);
std::uint32_t file_of(long fd);

}  // namespace reweave::core
