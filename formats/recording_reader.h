// Reads a recording. Bytes from a stranger are safe to read: damage is a BadFile, thrown only after everything
// before it has been handed out. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "formats/block_file.h"
#include "formats/event_decoder.h"
#include "formats/manifest.h"
#include "formats/message.h"

namespace reweave {

class RecordingReader {
 public:
  // Opens the directory `path`. Throws BadInput if it is not a recording, BadFile if it cannot be used at all.
  explicit RecordingReader(const std::string& path);

  const Manifest& manifest() const { return manifest_; }
  const std::string& path() const { return path_; }

  // The next record exactly as it was appended, valid until the next call; nullptr at the end, be that the end of a
  // finished recording or the last whole block of a truncated one. Throws BadFile where the events are corrupt.
  const wire::RecordHeader* next();
  // Index of the record that next() returns next.
  std::uint64_t position() const { return position_; }
  // After next() has returned nullptr: the recording lacks its end.
  bool truncated() const { return truncation_.has_value(); }
  // What is missing, where truncated().
  const BadFile& truncation() const { return *truncation_; }

  // Path of the copy of `file` in this recording; empty if it is not stored.
  std::string stored_path(const MappedFile& file) const;

 private:
  bool next_block();
  [[noreturn]] void fail(std::string_view reason) const;

  std::string path_;
  Manifest manifest_;
  BlockReader events_;
  ApartReader apart_;
  Block block_;
  std::unique_ptr<MessageView> view_;
  EventDecoder decoder_{&apart_};
  bool in_block_ = false;
  std::uint64_t position_ = 0;
  std::optional<BadFile> truncation_;
};

}  // namespace reweave
