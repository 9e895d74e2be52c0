// Writes a recording: a directory of `manifest`, `events`, `files/` and, if need be, `reads`
// (docs/recording-format.md).
//
// The events file is flushed block by block, and the manifest says complete = false until finish(): a recorder that
// is killed leaves a recording that can be read up to the last whole block. One thread.
#pragma once

#include <memory>
#include <string>

#include "formats/block_file.h"
#include "formats/event_encoder.h"
#include "formats/manifest.h"
#include "formats/stored_apart.h"

namespace reweave {

class RecordingWriter {
 public:
  enum class Place { kNew, kReserved };
  // Creates the directory `path` (mode 0700), which must not exist; kReserved: it was created for this, and is empty.
  RecordingWriter(const std::string& path, const Manifest& manifest, Place place = Place::kNew);

  // Where the whole blocks of a truncated recording's events end.
  struct End {
    End(std::uint64_t records_, std::uint64_t blocks_, std::uint64_t offset_)
        : records(records_), blocks(blocks_), offset(offset_) {}
    std::uint64_t records, blocks, offset;
  };
  // Goes on with such a recording, of which no other writer may be left.
  RecordingWriter(const std::string& path, const End& end);

  // Appends one wire record.
  void append(const wire::RecordHeader* record);
  // Stores what a call read, for a record whose output is apart.
  wire::StoredApart store_apart(const std::byte* data, std::uint64_t bytes) { return apart_.store(data, bytes); }
  // How much of the ring that feeds the recording is filled, in percent: the fuller, the less time goes into
  // compression.
  void set_pressure(unsigned percent);
  // Hands everything appended to the OS.
  void flush();
  // Replaces the manifest while recording, still incomplete.
  void update_manifest(Manifest manifest);
  // Ends the recording; `manifest` is written with complete = true.
  void finish(Manifest manifest);

  // Keeps a copy of `source` in the recording, where `path` is for messages; returns its stored name. The same content
  // is kept once.
  std::string store_file(const Fd& source, const std::string& path) const;

  const Folder& folder() const { return folder_; }
  std::uint64_t records() const { return records_; }
  // Those that are in blocks, which the OS has.
  std::uint64_t records_in_blocks() const { return records_in_blocks_; }
  std::uint64_t bytes_written() const { return events_->bytes_written() + apart_.bytes_written(); }

 private:
  void write_block();

  Folder folder_, files_;
  std::unique_ptr<BlockWriter> events_;
  ApartWriter apart_{folder_};
  EventEncoder encoder_;
  std::uint64_t records_ = 0;
  std::uint64_t records_in_blocks_ = 0;
};

}  // namespace reweave
