#include "formats/recording_reader.h"

#include <sys/stat.h>

namespace reweave {
namespace {

std::string require_recording(const std::string& path) {
  struct stat status {};
  SYSCALL_CHECK(::stat(path.c_str(), &status), "{}", path);
  REQUIRE(S_ISDIR(status.st_mode), "{} is not a recording: a recording is a directory", path);
  REQUIRE(::stat((path + "/manifest").c_str(), &status) == 0, "{} is not a recording: it has no manifest", path);
  return path;
}

}  // namespace

RecordingReader::RecordingReader(const std::string& path)
    : path_(require_recording(path)),
      manifest_(read_manifest(path_ + "/manifest")),
      events_(path_ + "/events", FileType::kEvents),
      apart_(path_ + "/reads") {}

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

std::string RecordingReader::stored_path(const MappedFile& file) const {
  return file.stored_name.empty() ? std::string() : path_ + "/files/" + file.stored_name;
}

}  // namespace reweave
