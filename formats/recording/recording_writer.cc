#include "formats/recording/recording_writer.h"

#include "formats/base/message.h"
#include "formats/recording/file_identity.h"

namespace reweave {
namespace {

// Small enough to lose little when killed, large enough to compress well.
constexpr std::uint64_t kBlockBytes = 256 * 1024;
constexpr std::uint64_t kMaxBytesRead = 64 << 20;  // of records when decoded, so with outputs stored apart

// The zstd level for blocks while the ring is at least `percent` full.
struct Level {
  unsigned percent;
  int zstd;
};
constexpr Level kLevels[] = {{0, 3}, {10, 1}, {25, BlockWriter::kFast}, {40, BlockWriter::kAsIs}};

}  // namespace

RecordingWriter::RecordingWriter(const std::string& path, const Manifest& manifest, Place place)
    : folder_(place == Place::kNew ? Folder::create(path) : Folder::open(path)),
      files_(folder_.create_folder("files")) {
  update_manifest(manifest);
  events_ = std::make_unique<BlockWriter>(folder_.create_file("events"), folder_.path_of("events"), FileType::kEvents,
                                          kLevels[0].zstd);
}

RecordingWriter::RecordingWriter(const std::string& path, const End& end)
    : folder_(Folder::open(path)),
      files_(folder_.open_folder("files")),
      events_(std::make_unique<BlockWriter>(folder_.open_file_to_change("events"), folder_.path_of("events"),
                                            end.blocks, end.offset, kLevels[0].zstd)),
      records_(end.records),
      records_in_blocks_(end.records) {}

void RecordingWriter::append(const wire::RecordHeader* record) {
  // A huge record goes into a block of its own, so that no block can pass the limit.
  if (encoder_.count() != 0 && encoder_.column_bytes() + record->bytes > kMaxRecordBytes) write_block();
  encoder_.add(record);
  ++records_;
  if (encoder_.column_bytes() >= kBlockBytes || encoder_.raw_bytes() >= kMaxBytesRead) write_block();
}

void RecordingWriter::set_pressure(unsigned percent) {
  for (const Level& level : kLevels)
    if (percent >= level.percent) events_->set_level(level.zstd);
}

void RecordingWriter::flush() {
  if (encoder_.count() != 0) write_block();
}

void RecordingWriter::write_block() {
  capnp::MallocMessageBuilder message(static_cast<unsigned>(encoder_.column_bytes() / 8 + 1024));
  auto block = message.initRoot<schema::EventBlock>();
  block.setFirstRecord(records_in_blocks_);
  records_in_blocks_ += encoder_.count();
  encoder_.emit(block);
  write_message(*events_, BlockType::kEvents, message);
}

void RecordingWriter::update_manifest(Manifest manifest) {
  manifest.complete = false;
  manifest.events_total = records_;
  write_manifest(folder_, manifest);
}

void RecordingWriter::finish(Manifest manifest) {
  flush();
  events_->finish();
  manifest.complete = true;
  manifest.events_total = records_;
  write_manifest(folder_, manifest);
}

std::string RecordingWriter::store_file(const Fd& source, const std::string& path) const {
  return store_content(source, path, files_);
}

}  // namespace reweave
