// The open files that a run has to itself: ends of pipes, sockets and counters (channels.h), and who has them open.
#pragma once

#include "recorder/core/explored/channels.h"
#include "recorder/core/explored/descriptor_tables.h"

namespace reweave::core {

// A further open file, with one reference, or queue, of two ends. Null: there are too many.
ChannelFile* new_channel(ChannelKind kind);
ByteQueue* new_queue();
// The run has made one.
bool has_own_files();
// The object that policies see all operations on them as.
std::uint64_t own_files_object();

// A process has ended: those that name it can be read.
void note_ended_process(std::uint16_t index);

// One descriptor, message or call under way fewer leads to it.
void drop_reference(ChannelFile& file);
// The same of what a descriptor leads to; one more does.
void drop_reference(const Descriptor& descriptor);
void add_reference(const Descriptor& descriptor);

// The calling thread's number means nothing any more.
void close_number(long fd);
// The same of a number in some table.
void release_number(Descriptor& descriptor);
// Table `to` becomes a copy of table `from` (Thread::fd_table). False: there is no room for it.
bool copy_descriptors(std::uint32_t from, std::uint32_t to);
// The process ends: what nobody else has open is closed.
void close_descriptors_of(std::uint16_t process);
// The calling thread executes a program, with a table of its own.
void close_on_exec();

}  // namespace reweave::core
