// The open files of the run's own: ends of pipes, sockets and counters (channels.h), and the references to them.
#pragma once

#include "recorder/core/explored/files/channels.h"
#include "recorder/core/explored/files/descriptor_tables.h"

namespace reweave::core {

// A new open file with one reference; a new queue with two ends. Null: there are too many.
ChannelFile* new_channel(ChannelKind kind);
ByteQueue* new_queue();
// True if the run has created an open file of its own.
bool has_own_files();
// The object on which policies see all operations on them.
std::uint64_t own_files_object();

// A process has ended: its descriptors become readable.
void note_ended_process(std::uint16_t index);

// Drops a reference: of a descriptor, a message or a call in progress.
void drop_reference(ChannelFile& file);
// The same for the file to which a descriptor refers. / Adds a reference to it.
void drop_reference(const Descriptor& descriptor);
void add_reference(const Descriptor& descriptor);

// The calling thread closes the number.
void close_number(long fd);
// Likewise for an entry of any table.
void release_number(Descriptor& descriptor);
// Table `to` becomes a copy of table `from` (Thread::fd_table). False: there is no room.
bool copy_descriptors(std::uint32_t from, std::uint32_t to);
// The process ends: closes what no other process has open.
void close_descriptors_of(std::uint16_t process);
// The calling thread executes a program, with a table of its own.
void close_on_exec();

}  // namespace reweave::core
