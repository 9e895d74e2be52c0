// The descriptors of an explored run: what each number leads to, in a table that some threads have in common
// (syscalls/files/fd_sharing.h).
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct ChannelFile;  // channels.h
struct Poller;       // an epoll instance (modelled_polls.cc)

// What a descriptor of the program leads to.
enum class FileOf : std::uint8_t { kOutside, kChannel, kPoller, kClosed };
struct Descriptor {
  FileOf kind;
  bool closes_on_exec;
  ChannelFile* channel;
  Poller* poller;
  std::uint32_t opened;  // outside: the recorded file (recorded_files.h) that this run's call opened, plus one; 0: none
};
struct DescriptorTable {
  std::uint32_t used;  // those from here on are as they were where the run began
  Descriptor at[kMaxFds];
};

// That of number `index` (Thread::fd_table).
DescriptorTable& descriptor_table(std::uint32_t index);
// One of that number that is not the run's first. Null: there is no room for it.
DescriptorTable* further_table(std::uint32_t index);

// Null: such a number cannot be open. In that table, or the calling thread's.
Descriptor* descriptor_at(DescriptorTable& table, long fd);
Descriptor* descriptor_at(long fd);
// The calling thread's number leads to that from now on. Whatever it led to must have been released.
void occupy(long fd, const Descriptor& descriptor, bool closes_on_exec);

// Nobody uses the number.
bool number_is_free(long fd);
// The lowest number from `least` on that nobody uses, in this process or the recorded run. -ENFILE: none is left.
long unused_number(long least);

// The recorded file that it leads to; kNothing: it leads to none, or to something of the run's own.
std::uint32_t file_of(const Descriptor& descriptor, long fd);
std::uint32_t file_of(long fd);

}  // namespace reweave::core
