// Writes a recording: a directory of `manifest`, `events`, `files/` and, if needed, `reads` (docs/recording-format.md).
//
// The events file is flushed block by block, and the manifest says complete = false until finish(): if the recorder is
// killed, the recording can be read up to the last whole block. One thread.
#pragma once

#include <memory>
#include <string>

#include "formats/base/block_file.h"
#include "formats/recording/event_encoder.h"
#include "formats/recording/manifest.h"
#include "formats/recording/stored_apart.h"

namespace reweave {

class RecordingWriter {
 public:
  enum class Place { kNew, kReserved };
  // Creates the directory `path` (mode 0700), which must not exist. kReserved: the directory was created for this, and
  // is empty.
  RecordingWriter(const std::string& path, const Manifest& manifest, Place place = Place::kNew);

  // The end of the whole blocks in a truncated recording's events.
  struct End {
    End(std::uint64_t records_, std::uint64_t blocks_, std::uint64_t offset_)
        : records(records_), blocks(blocks_), offset(offset_) {}
    std::uint64_t records, blocks, offset;
  };
  // Continues such a recording; it must have no other writer.
  RecordingWriter(const std::string& path, const End& end);

  // Appends one wire record.
  void append(const wire::RecordHeader* record);
  // Stores data read by a call whose record refers to it instead of containing it.
  wire::StoredApart store_apart(const std::byte* data, std::uint64_t bytes) { return apart_.store(data, bytes); }
  // Tells the writer how full the ring that feeds it is, in percent. The fuller the ring, the less time the writer
  // spends on compression.
  void set_pressure(unsigned percent);
  // Hands everything appended to the OS.
  void flush();
  // Replaces the manifest during recording; it stays incomplete.
  void update_manifest(Manifest manifest);
  // Ends the recording; `manifest` is written with complete = true.
  void finish(Manifest manifest);

  // Stores a copy of `source` in the recording and returns its stored name; `path` is for messages. Equal contents are
  // stored once.
  std::string store_file(const Fd& source, const std::string& path) const;

  const Folder& folder() const { return folder_; }
  std::uint64_t records() const { return records_; }
  // Records in blocks already handed to the OS.
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
