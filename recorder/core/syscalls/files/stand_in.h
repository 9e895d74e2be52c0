// Files that the program can change while they are mapped: shared memory objects, memfds, deleted files, databases.
//
// The file itself is not there when replaying, or not as it was. Its contents are logged when it is mapped; replay
// maps memory of the arena in its place, the same for every process that maps the same file. What the program writes
// through descriptors afterwards is logged too (file_changes.h).
#pragma once

#include "recorder/core/syscalls/files/map_file.h"

namespace reweave::core {

// Replay: consumes what was logged of a part of that file.
void fill_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);

// Replay: consumes what log_contents logged and maps the stand-in of `file`.
void map_stand_in(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                  long offset);

// Explored run: the same with what the recorded mapping showed, but for what the run itself has written.
void map_stand_in_of_run(const wire::MapFileRecord& recorded, const FileIdentity& file, std::uint64_t start,
                         std::uint64_t bytes, long prot, long flags, long offset);
// Explored run: logs what log_contents would log of the file.
void log_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);
// Explored run, forked just now: its files are as the server's, and its own.
void begin_own_stand_ins();

// The number (from 1) of a file that is mapped and may change, which is known from now on.
std::uint32_t note_stand_in(const FileIdentity& file);

// That number of the file known by device and inode; 0: it is not.
std::uint32_t find_stand_in(std::uint64_t device, std::uint64_t inode);

// Replay: parts of a stand-in, by its number and the file's offsets. map_nothing: pages behind a file's end, whose use
// is a SIGBUS.
void map_part(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
              std::uint64_t offset);
// All of a shared mapping, with the pages behind the file's end.
void remap_stand_in(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, std::uint64_t offset);
void map_nothing(std::uint64_t start, std::uint64_t bytes, long prot, long flags);
void write_stand_in(std::uint32_t number, std::uint64_t offset, const void* from, std::uint64_t bytes);
void clear_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);

}  // namespace reweave::core
