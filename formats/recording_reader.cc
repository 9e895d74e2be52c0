#include "formats/recording_reader.h"

#include <sys/stat.h>

namespace reweave {
namespace {

Folder open_recording(const std::string& path) {
  struct stat status {};
  const bool is_other = ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  REQUIRE(!is_other, "{} is not a recording: a recording is a directory", path);
  Folder folder = Folder::open(path);
  REQUIRE(folder.has("manifest"), "{} is not a recording: it has no manifest", path);
  return folder;
}

}  // namespace

RecordingReader::RecordingReader(const std::string& path)
    : folder_(open_recording(path)),
      manifest_(read_manifest(folder_)),
      events_(folder_.open_file("events"), folder_.path_of("events"), FileType::kEvents) {}

bool RecordingReader::is_whole() const {
  EndPayload end{};
  return manifest_.complete && events_.read_end(end);
}

void RecordingReader::require_whole() const {
  if (is_whole()) return;
  throw BadFile(events_.path(), Damage::kTruncated, 0, events_.file_bytes(),
                "the recording has no end: it was cut, or is still being made");
}

const wire::RecordHeader* RecordingReader::next() {
  while (!truncation_) {
    if (!in_block_ && !next_block()) return nullptr;
    const wire::RecordHeader* record = guard_message(events_.path(), block_, [&] { return decoder_.next(); });
    if (record != nullptr) {
      ++position_;
      return record;
    }
    in_block_ = false;
  }
  return nullptr;
}

// Moves to the next block of events; false at the end.
bool RecordingReader::next_block() {
  try {
    if (!events_.next(block_)) {
      if (manifest_.complete && manifest_.events_total != position_)
        throw BadFile(events_.path(), Damage::kCorrupt, block_.index(), block_.offset(),
                      fmt::format("{} records, the manifest counts {}", position_, manifest_.events_total));
      return false;
    }
  } catch (const BadFile& bad) {
    if (bad.damage() != Damage::kTruncated) throw;
    truncation_ = bad;
    return false;
  }
  if (block_.type() != BlockType::kEvents) fail("not the block expected here");
  guard_message(events_.path(), block_, [&] {
    view_ = std::make_unique<MessageView>(block_);
    const auto root = view_->root<schema::EventBlock>();
    if (root.getFirstRecord() != position_) throw Malformed("the block does not continue the one before");
    decoder_.start(root);
  });
  in_block_ = true;
  return true;
}

void RecordingReader::fail(std::string_view reason) const {
  throw BadFile(events_.path(), Damage::kCorrupt, block_.index(), block_.offset(), reason);
}

}  // namespace reweave
