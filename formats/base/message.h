// Cap'n Proto messages in files of Reweave, with the bounds that hostile input needs.
//
// A kj::Exception (malformed pointers, traversal limit) never leaves this layer: guard_message turns it, and
// Malformed, into BadFile.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <memory>
#include <string>
#include <string_view>

#include "formats/base/block_file.h"
#include "formats/base/output_file.h"

namespace reweave {

// A message in a block's payload; the block must outlive it.
class MessageView {
 public:
  explicit MessageView(const Block& block);
  template <typename Root>
  typename Root::Reader root() {
    return reader_->getRoot<Root>();
  }

 private:
  std::unique_ptr<capnp::FlatArrayMessageReader> reader_;
};

// Appends the message as one block; returns the block's offset.
std::uint64_t write_message(BlockWriter& writer, BlockType type, capnp::MessageBuilder& message);

// Writes a file that consists of one message.
void write_message_file(OutputFile& output, FileType type, capnp::MessageBuilder& message);
// Writes it to the file `name` of a folder, atomically: `name` is either the old file or the complete new one.
void write_message_file(const Folder& folder, const std::string& name, FileType type, capnp::MessageBuilder& message);

// A file that consists of one message.
class MessageFile {
 public:
  MessageFile(Fd file, const std::string& path, FileType type);
  // Reads the file at `path`, which the user named.
  MessageFile(const std::string& path, FileType type) : MessageFile(open_regular(path), path, type) {}
  // Runs `read(root)`; damage becomes BadFile.
  template <typename Root, typename Read>
  void read(Read&& read);

 private:
  std::string path_;
  Block block_;
};

namespace message_detail {
[[noreturn]] void throw_bad(const std::string& path, const Block& block, std::string_view reason);
[[noreturn]] void throw_kj(const std::string& path, const Block& block, const kj::Exception& exception);
}  // namespace message_detail

// Runs `decode`, which reads `block` of the file `path`.
template <typename Decode>
decltype(auto) guard_message(const std::string& path, const Block& block, Decode&& decode) {
  try {
    return decode();
  } catch (const kj::Exception& exception) {
    message_detail::throw_kj(path, block, exception);
  } catch (const Malformed& malformed) {
    message_detail::throw_bad(path, block, malformed.what());
  }
}

template <typename Root, typename Read>
void MessageFile::read(Read&& read) {
  guard_message(path_, block_, [&] {
    MessageView view(block_);
    read(view.root<Root>());
  });
}

// Conversions of Cap'n Proto text and data.
inline std::string string_of(capnp::Text::Reader text) { return {text.cStr(), text.size()}; }
inline std::span<const std::uint8_t> bytes_of(capnp::Data::Reader data) { return {data.begin(), data.size()}; }
inline capnp::Data::Reader data_of(std::span<const std::uint8_t> bytes) { return {bytes.data(), bytes.size()}; }

// The longest list of structs or strings in a file. An empty element costs almost nothing in a hostile message, but
// much more memory once it is decoded.
inline constexpr unsigned kMaxListItems = 1u << 20;

template <typename List>
List checked_list(List list) {
  if (list.size() > kMaxListItems) throw Malformed(fmt::format("a list of {} items", list.size()));
  return list;
}
inline unsigned list_size(std::size_t size) {
  REQUIRE(size <= kMaxListItems, "a list of {} items cannot be written", size);
  return static_cast<unsigned>(size);
}

// Enumeration from a file: `value` as Enum if below `count`, else Malformed.
template <typename Enum, typename Integer>
Enum checked_enum(Integer value, unsigned count, const char* what) {
  if (value >= count) throw Malformed(fmt::format("{} {} is unknown", what, value));
  return static_cast<Enum>(value);
}

}  // namespace reweave
