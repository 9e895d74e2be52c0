// The recorded contents of regular files: for each file its size and the bytes that recorded calls read, by their place
// in the file. Bytes that the recorded run wrote before reading them are not included: an explored run finds its own
// writes there.
#pragma once

#include "recorder/core/explored/recorded/files.h"

namespace reweave::core {

// Known bytes of a file.
struct KnownBytes {
  std::uint32_t contents;
  std::uint32_t bytes;
  std::uint64_t offset;
  const std::byte* data;  // in the feed
};

struct Contents {
  std::uint64_t device, inode;
  std::int64_t size;                      // at the start of the runs, or when it was first opened
  std::int64_t size_now;                  // in the recorded run during indexing, then in this run
  std::int64_t changed_from, changed_to;  // range that the recorded run wrote
  std::uint32_t first_extent, extents;    // sorted by offset, without overlaps
  std::uint32_t mode;                     // as reported by fstat
  bool unreliable;                        // changes without the run's doing: only the order of its reads is known
  const wire::MapFileRecord* image;       // of a file that only this run opens: what a mapping of it logs; or null
};

// Room for `most` contents and for as many extents as the recording has `outputs`. Like prepare_recorded_files.
long prepare_contents(std::uint64_t memory, std::uint64_t most, std::uint64_t outputs);

// Used while indexing. contents_of: the contents of a file opened with these names and O_ flags. index_contents_use:
// notes the recorded run's use of a file. begin_contents_at_departure: all calls before the start of the runs have been
// indexed. end_of_contents: ends the indexing.
std::uint32_t contents_of(const wire::NamedFiles& names, std::uint64_t flags);
void index_contents_use(RecordedFile& file, const RecordedCall& call);
void begin_contents_at_departure();
void end_of_contents();

// Adds the contents of an empty file that only this run opens. kNothing: there are too many.
std::uint32_t add_contents(std::uint64_t device, std::uint64_t inode, std::uint32_t mode);

Contents& contents_at(std::uint32_t index);
// Null: there are none, or they are unreliable.
Contents* reliable_contents(const RecordedFile& file);
// The extent with the byte at `offset`, or the first one after it; null: there is none.
const KnownBytes* extent_at(const Contents& contents, std::uint64_t offset);

}  // namespace reweave::core
