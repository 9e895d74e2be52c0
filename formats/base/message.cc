#include "formats/base/message.h"

#include <utility>

namespace reweave {
namespace {

// A well-formed message is traversed about once. Twice leaves a margin, and bounds the cost of overlapping pointers.
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

namespace {

void write_file(Fd file, const std::string& path, FileType type, capnp::MessageBuilder& message) {
  BlockWriter writer(std::move(file), path, type);
  write_message(writer, BlockType::kMessage, message);
  writer.finish();
}

}  // namespace

void write_message_file(OutputFile& output, FileType type, capnp::MessageBuilder& message) {
  write_file(output.take(), output.path(), type, message);
  output.commit();
}

void write_message_file(const Folder& folder, const std::string& name, FileType type, capnp::MessageBuilder& message) {
  const std::string fresh = name + ".new";
  write_file(folder.recreate_file(fresh), folder.path_of(name), type, message);
  folder.rename(fresh, name);
}

MessageFile::MessageFile(Fd file, const std::string& path, FileType type) : path_(path) {
  BlockReader reader(std::move(file), path, type);
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
