// Leases on the large files that a recorded program reads (recorder/core/syscalls/files/kept_files.h), and the data
// taken from them. fcntl(2): a read lease is granted to the file's owner or with CAP_LEASE, while the file is not open
// for writing; a process that opens it for writing waits until the lease is released, at most
// /proc/sys/fs/lease-break-time seconds.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "formats/base/fd.h"
#include "formats/recording/recording_writer.h"
#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

// Thread rule: the supervisor's thread.
class KeptFiles {
 public:
  explicit KeptFiles(ArenaMemory& arena) : arena_(arena) {}

  // Answers a thread that asks for a file to be kept.
  void answer();
  // True if other processes wait to write to kept files. No further references to these are logged; those already
  // logged must be stored before release().
  bool mark_wanted();
  void release();

  // A copy of `record`, whose output is a reference to a kept file, in the form for a recording: stores the data in
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
