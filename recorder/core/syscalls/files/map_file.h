// Files that are mapped: identified when recording, found again when replaying.
#pragma once

#include <sys/stat.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

struct FileIdentity {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t size;
  std::int64_t ctime_ns;
  bool changeable;  // the program may change it, or it has no name
  bool inlined;     // its contents are in the log, for there they cost less
  bool read_only;   // not open for writing
  bool fresh;       // recording: made or changed since the run began
  bool zeros;       // /dev/zero: memory like any other
  char path[4096];
  char opened[4096];  // replaying: what is opened in its place, a copy in the recording; empty: the path itself
};

// A hash that tells the file from others, and from itself when it had other contents.
std::uint64_t version_of(const FileIdentity& file);
// Replay: the length of the mapping that the next record tells of.
std::uint64_t recorded_mapping_bytes();
// Recording: all of a small file, as it is once it is mapped; in the thread's scratch memory.
struct SmallContents {
  const std::byte* data;
  std::uint64_t bytes;
};

// Recording: of a small file of data that is mapped so, what is logged of it, by the name that the program gave; for
// its contents are in the log, and asking the kernel for the name costs more than the mapping. False: it is another, or
// no longer of the size that `status` says.
bool identify_small_file(long fd, const struct stat& status, long prot, long flags, FileIdentity& file,
                         SmallContents& contents);
// Recording: what the open descriptor is, of which fstat(2) said `status`.
void identify_file(long fd, const struct stat& status, FileIdentity& file);
// Decides whether the contents of `file`, open as `fd` and mapped so, are logged in any case.
void decide_inlining(FileIdentity& file, long fd, long prot, long flags);
// Logs that `file` was mapped at `start`.
void log_mapped_file(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long offset, long prot,
                     long flags);
// Logs what is needed of the contents of `file`, open as `fd`, of which so many bytes at `offset` were mapped.
void log_contents_of(const FileIdentity& file, long fd, std::uint64_t offset, std::uint64_t bytes);
// Replay: consumes the MapFileRecord, opens the file it names (the supervisor has checked or supplied it) and maps it.
void map_recorded_file(FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                       long offset);
// Explored run: maps the file that `recorded` names, and logs that.
void map_modelled_file(const wire::MapFileRecord& recorded, FileIdentity& file, std::uint64_t start,
                       std::uint64_t bytes, long prot, long flags, long offset);
// The first bytes of a program or script; `bytes` of them are there, or it is an error.
struct FileHead {
  unsigned char data[256];
  long bytes;
};

// Either mode: opens a program image at `path` for the loader and logs or checks it. Negative error if that fails. Of a
// script only the head is kept, and replaying the descriptor is of no use.
long open_image(const char* path, FileIdentity& file, FileHead& head);

// True if the file behind `fd` is open; trace: tells the supervisor where an ELF file was loaded.
void trace_module(const FileIdentity& file, std::uint64_t base, std::uint64_t start, std::uint64_t end);

}  // namespace reweave::core
