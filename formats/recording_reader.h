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
  // Opens the directory `path`, once: what that name means later does not matter. Throws BadInput if it is not a
  // recording, BadFile if it cannot be used at all.
  explicit RecordingReader(const std::string& path);

  const Manifest& manifest() const { return manifest_; }
  const Folder& folder() const { return folder_; }
  const std::string& path() const { return folder_.path(); }

  // The next record exactly as it was appended, valid until the next call; nullptr at the end, be that the end of a
  // finished recording or the last whole block of a truncated one. Throws BadFile where the events are corrupt.
  const wire::RecordHeader* next();
  // Has it all, as far as its end tells: it was neither cut nor is it still being made. Reads no events.
  bool is_whole() const;
  // Throws the BadFile that says so, if it has not.
  void require_whole() const;
  // Index of the record that next() returns next.
  std::uint64_t position() const { return position_; }
  // After next() has returned nullptr: the recording lacks its end.
  bool truncated() const { return truncation_.has_value(); }
  // What is missing, where truncated().
  const BadFile& truncation() const { return *truncation_; }

 private:
  bool next_block();
  [[noreturn]] void fail(std::string_view reason) const;

  Folder folder_;
  Manifest manifest_;
  BlockReader events_;
  ApartReader apart_{folder_};
  Block block_;
  std::unique_ptr<MessageView> view_;
  EventDecoder decoder_{&apart_};
  bool in_block_ = false;
  std::uint64_t position_ = 0;
  std::optional<BadFile> truncation_;
};

}  // namespace reweave
