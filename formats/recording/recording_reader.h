// Reads a recording. Hostile files are safe to read: damage is a BadFile, thrown only after everything before it has
// been returned. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "formats/base/block_file.h"
#include "formats/base/message.h"
#include "formats/recording/event_decoder.h"
#include "formats/recording/manifest.h"

namespace reweave {

class RecordingReader {
 public:
  // Opens the directory `path` once; later changes of that name do not matter. Throws BadInput if it is not a
  // recording, BadFile if it cannot be used at all.
  explicit RecordingReader(const std::string& path);

  const Manifest& manifest() const { return manifest_; }
  const Folder& folder() const { return folder_; }
  const std::string& path() const { return folder_.path(); }

  // The next record exactly as it was appended, valid until the next call; nullptr at the end of a finished recording,
  // or after the last whole block of a truncated one. Throws BadFile where the events are corrupt.
  const wire::RecordHeader* next();
  // Skips the records before number `position`, mostly without reading them. Call it before next().
  void skip_to(std::uint64_t position);
  // True if the recording is complete: it is neither truncated nor still being written. Reads no events.
  bool is_whole() const;
  // Throws BadFile unless is_whole().
  void require_whole() const;
  // Throws unless the recording has a process that can be replayed: BadFile if it was truncated before the process
  // began, or is still being made; BadInput if it never had one.
  void require_run() const;
  // Index of the record that next() returns next.
  std::uint64_t position() const { return position_; }
  // After next() has returned nullptr: the recording lacks its end.
  bool truncated() const { return truncation_.has_value(); }
  // Describes the truncation; only if truncated().
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
