// Mapped files: identified when recording, found again when replaying.
#pragma once

#include <sys/stat.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

struct FileIdentity {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t size;
  std::int64_t ctime_ns;
  bool changeable;             // the program may change it, or it has no name
  bool inlined;                // its contents are in the log, because that is cheaper
  bool read_only;              // not open for writing
  bool fresh;                  // recording: created or changed since the run began
  bool zeros;                  // /dev/zero: like anonymous memory
  std::uint32_t program_slot;  // of a file that open_image() opened (kProgramSlots)
  char path[4096];
  char opened[4096];  // replaying: the path to open instead, of a copy in the recording; empty: `path` itself
};

// A hash that identifies the file and its version.
std::uint64_t version_of(const FileIdentity& file);
// Replay: the length of the mapping in the next record.
std::uint64_t recorded_mapping_bytes();
// Recording: the whole contents of a small file at the time of its mapping, in the thread's scratch memory.
struct SmallContents {
  const std::byte* data;
  std::uint64_t bytes;
};

// Recording: identifies a small data file that is mapped with `prot` and `flags`, and reads its contents. The name is
// the one by which the program opened the file: the contents are logged anyway, and asking the kernel for the name
// costs more than the mapping. False if it is not such a file, or no longer has the size in `status`.
bool identify_small_file(long fd, const struct stat& status, long prot, long flags, FileIdentity& file,
                         SmallContents& contents);
// Recording: identifies the file open as `fd`, for which fstat(2) returned `status`.
void identify_file(long fd, const struct stat& status, FileIdentity& file);
// Decides whether the contents of `file`, open as `fd` and mapped with `prot` and `flags`, are logged because that is
// cheaper (`file.inlined`).
void decide_inlining(FileIdentity& file, long fd, long prot, long flags);
// Logs that `file` was mapped at `start`.
void log_mapped_file(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long offset, long prot,
                     long flags);
// Logs as much as needed of the contents of `file`, open as `fd`, of which `bytes` at `offset` were mapped.
void log_contents_of(const FileIdentity& file, long fd, std::uint64_t offset, std::uint64_t bytes);
// Replay: consumes the MapFileRecord, opens the file it names (which the supervisor has checked or supplied) and maps
// it.
void map_recorded_file(FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                       long offset);
// Explored run: maps the file that `recorded` names, and logs the mapping.
void map_modelled_file(const wire::MapFileRecord& recorded, FileIdentity& file, std::uint64_t start,
                       std::uint64_t bytes, long prot, long flags, long offset);
// The first bytes of a program or script; `bytes` is their number or an error.
struct FileHead {
  unsigned char data[256];
  long bytes;
};

// Every mode: opens the program image at `path` for the loader, and logs or checks it. `first`: it is the program that
// the user named. Returns a descriptor or a negative error. Of a script only the head is kept, and in a replay the
// descriptor must not be used.
long open_image(const char* path, bool first, FileIdentity& file, FileHead& head);

// Trace: tells the supervisor where an ELF file was loaded.
void trace_module(const FileIdentity& file, std::uint64_t base, std::uint64_t start, std::uint64_t end);

}  // namespace reweave::core
