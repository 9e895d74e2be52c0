// Leases on the large files that a recorded program reads (recorder/core/syscalls/files/kept_files.h), and what is
// taken from them. fcntl(2): a read lease is had by a file's owner or with CAP_LEASE, while nobody has the file open
// for writing; whoever opens it for writing waits until the lease is given up, /proc/sys/fs/lease-break-time seconds at
// the most.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "formats/fd.h"
#include "formats/recording_writer.h"
#include "recorder/supervisor/arena_memory.h"

namespace reweave {

// One thread: the supervisor's.
class KeptFiles {
 public:
  explicit KeptFiles(ArenaMemory& arena) : arena_(arena) {}

  // Answers a thread that asks for a file to be kept.
  void answer();
  // True if others wait to write to kept files. No reference to these is logged any more: those that are must be stored
  // before release().
  bool mark_wanted();
  void release();

  // A copy of `record`, whose output is a reference to a kept file, as it goes into a recording: the data is stored in
  // `writer`. Valid until the next call. Throws SystemError if the file cannot be read.
  const wire::RecordHeader* resolve(const wire::RecordHeader* record, RecordingWriter& writer);

 private:
  struct Kept {
    Fd fd;
    std::uint64_t device = 0, inode = 0;
    bool wanted = false;
  };

  std::uint16_t keep(const KeepRequest& request);
  wire::StoredApart store(const wire::KeptRange& range, std::uint64_t bytes, RecordingWriter& writer);

  ArenaMemory& arena_;
  std::vector<Kept> files_;                                                                      // by number
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, wire::StoredApart> stored_;  // file, offset, bytes
  std::vector<std::byte> data_;
  std::vector<std::uint64_t> record_;
};

}  // namespace reweave
