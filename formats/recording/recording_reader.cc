#include "formats/recording/recording_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

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
                "the recording has no end: it was truncated, or is still being made");
}

void RecordingReader::require_run() const {
  if (!manifest_.command_line.empty() && !manifest_.processes.empty()) return;
  require_whole();
  throw BadInput(fmt::format("{} holds no run", path()));
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

namespace {

struct BlockPlace {
  std::uint64_t offset, index;
};

// The places of all whole blocks of the file, except the end block.
std::vector<BlockPlace> places_of_blocks(const BlockReader& events) {
  std::vector<BlockPlace> places;
  try {
    for (std::uint64_t offset = BlockReader::first_offset();;) {
      const BlockHeader header = events.header_at(offset, places.size());
      if (header.type != static_cast<std::uint32_t>(BlockType::kEvents)) return places;
      places.push_back({offset, places.size()});
      offset = BlockReader::behind(offset, header);
    }
  } catch (const BadFile&) {  // next() will report it
    return places;
  }
}

}  // namespace

void RecordingReader::skip_to(std::uint64_t position) {
  const std::vector<BlockPlace> places = places_of_blocks(events_);
  const auto first_record = [this](const BlockPlace& place) {
    Block block;
    events_.read_at(place.offset, block);
    return guard_message(events_.path(), block, [&] {
      return static_cast<std::uint64_t>(MessageView(block).root<schema::EventBlock>().getFirstRecord());
    });
  };
  // Start with a guess, because all blocks have about the same number of records.
  const std::size_t guess = manifest_.events_total == 0 ? 0 : places.size() * position / manifest_.events_total;
  std::size_t low = 0, high = places.size(), middle = guess;
  for (std::size_t step = 1; high > low + 1; step *= 2) {
    middle = std::clamp(middle, low + 1, high - 1);
    const bool is_before = first_record(places[middle]) <= position;
    (is_before ? low : high) = middle;
    middle = is_before ? low + step : high - std::min(step, high);
  }
  if (low > 0) {
    events_.go_to(places[low].offset, places[low].index);
    position_ = first_record(places[low]);
  }
  while (position_ < position && next() != nullptr) {
  }
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
    if (root.getFirstRecord() != position_) throw Malformed("the block does not continue the previous one");
    decoder_.start(root);
  });
  in_block_ = true;
  return true;
}

void RecordingReader::fail(std::string_view reason) const {
  throw BadFile(events_.path(), Damage::kCorrupt, block_.index(), block_.offset(), reason);
}

}  // namespace reweave
