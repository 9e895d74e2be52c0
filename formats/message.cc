#include "formats/message.h"

#include <unistd.h>

#include <cstdio>

namespace reweave {
namespace {

// A well-formed message is read about once; twice leaves room, and bounds what overlapping pointers can cost.
capnp::ReaderOptions options_for(std::size_t words) {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = 2 * words + 1024;
  options.nestingLimit = 16;
  return options;
}

}  // namespace

MessageView::MessageView(const Block& block) {
  if (block.payload().size() % 8 != 0) throw Malformed("a message that is not a whole number of words");
  const auto words = block.words();
  const kj::ArrayPtr<const capnp::word> array(reinterpret_cast<const capnp::word*>(words.data()), words.size());
  reader_ = std::make_unique<capnp::FlatArrayMessageReader>(array, options_for(words.size()));
}

std::uint64_t write_message(BlockWriter& writer, BlockType type, capnp::MessageBuilder& message) {
  const auto segments = message.getSegmentsForOutput();
  const kj::Array<capnp::word> flat = capnp::messageToFlatArray(segments);
  const auto bytes = flat.asBytes();
  return writer.write(type, std::as_bytes(std::span(bytes.begin(), bytes.size())));
}

void write_message_file(const std::string& path, FileType type, capnp::MessageBuilder& message) {
  const std::string temporary = path + ".new";
  // Left over by a writer that was killed; nobody else writes here.
  ::unlink(temporary.c_str());
  BlockWriter writer(temporary, type);
  write_message(writer, BlockType::kMessage, message);
  writer.finish();
  SYSCALL_CHECK(std::rename(temporary.c_str(), path.c_str()), "{} to {}", temporary, path);
}

MessageFile::MessageFile(const std::string& path, FileType type) : path_(path) {
  BlockReader reader(path, type);
  if (!reader.next(block_)) throw BadFile(path, Damage::kCorrupt, 0, reader.first_offset(), "the file is empty");
  if (block_.type() != BlockType::kMessage)
    throw BadFile(path, Damage::kCorrupt, 0, block_.offset(), "not the block expected here");
  Block end;
  if (reader.next(end)) throw BadFile(path, Damage::kCorrupt, 1, end.offset(), "more blocks than expected");
}

namespace message_detail {

void throw_bad(const std::string& path, const Block& block, std::string_view reason) {
  throw BadFile(path, Damage::kCorrupt, block.index(), block.offset(), reason);
}

void throw_kj(const std::string& path, const Block& block, const kj::Exception& exception) {
  throw BadFile(path, Damage::kCorrupt, block.index(), block.offset(),
                fmt::format("malformed message: {}", exception.getDescription().cStr()));
}

}  // namespace message_detail
}  // namespace reweave
