// Files that the program can change while they are mapped: shared memory objects, memfds, deleted files, databases.
//
// In a replay the file itself is missing or different. Its contents are logged when it is mapped; a replay maps memory
// of the arena instead, the same for every process that maps the file. Later writes through descriptors are logged too
// (file_changes.h).
#pragma once

#include "recorder/core/syscalls/files/map_file.h"

namespace reweave::core {

// Replay: consumes the logged contents of `bytes` at `offset` of file `number` and writes them to its stand-in.
void fill_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);

// Replay: consumes what log_contents logged and maps the stand-in of `file`.
void map_stand_in(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                  long offset);

// Explored run: maps the stand-in of `file`, with the contents of the recorded mapping except where the run itself has
// written.
void map_stand_in_of_run(const wire::MapFileRecord& recorded, const FileIdentity& file, std::uint64_t start,
                         std::uint64_t bytes, long prot, long flags, long offset);
// Explored run: logs what log_contents would log.
void log_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);
// Explored run, just forked: gives it its own copies of the server's stand-ins.
void begin_own_stand_ins();

// The number (from 1) of a mapped file that may change; assigns one if it is new.
std::uint32_t note_stand_in(const FileIdentity& file);

// The number of the file with that device and inode; 0 if it has none.
std::uint32_t find_stand_in(std::uint64_t device, std::uint64_t inode);

// Replay: parts of a stand-in, by its number and the file's offsets. map_nothing: pages after a file's end, where any
// access raises SIGBUS.
void map_part(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
              std::uint64_t offset);
// A whole shared mapping, including the pages after the file's end.
void remap_stand_in(std::uint32_t number, std::uint64_t start, std::uint64_t bytes, long prot, std::uint64_t offset);
void map_nothing(std::uint64_t start, std::uint64_t bytes, long prot, long flags);
void write_stand_in(std::uint32_t number, std::uint64_t offset, const void* from, std::uint64_t bytes);
void clear_stand_in(std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);

}  // namespace reweave::core
