// What the recording knows of the contents of regular files: for each the bytes that recorded calls read, by where they
// are in the file, and its size. Bytes that the recorded run read where it had written itself are no part of that: what
// a run finds there it has written itself.
#pragma once

#include "recorder/core/explored/recorded_files.h"

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
  std::int64_t size;                      // where the runs begin, or where it was opened first
  std::int64_t size_now;                  // the recorded run's while it is indexed, then this run's
  std::int64_t changed_from, changed_to;  // the recorded run wrote there
  std::uint32_t first_extent, extents;    // by offset, none overlaps another
  std::uint32_t mode;                     // as fstat says
  bool unreliable;                        // it changes without the run's doing: only the order of its reads is known
};

// Room for `most` contents and for as many extents as the recording has `outputs`. As prepare_recorded_files.
long prepare_contents(std::uint64_t memory, std::uint64_t most, std::uint64_t outputs);

// Indexing: the contents of what a call with these names and O_ flags opened; the recorded run's use of it; the end.
std::uint32_t contents_of(const wire::NamedFiles& names, std::uint64_t flags);
void index_contents_use(RecordedFile& file, const RecordedCall& call);
void end_of_contents();

Contents& contents_at(std::uint32_t index);
// Null: there are none, or they are unreliable.
Contents* reliable_contents(const RecordedFile& file);
// The extent that has the byte at `offset`, or the first behind it; null: there is none.
const KnownBytes* extent_at(const Contents& contents, std::uint64_t offset);

}  // namespace reweave::core
