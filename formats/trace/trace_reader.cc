#include "formats/trace/trace_reader.h"

#include <algorithm>

#include "formats/base/message.h"

namespace reweave {

TraceReader::TraceReader(const std::string& path) : file_(path, FileType::kTrace) {
  read_head();
  if (!read_footer()) walk_blocks();
  info_.sites = names_.site_count();
  info_.modules = names_.modules();
  info_.threads = names_.threads();
  info_.thread_count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(info_.threads.size()));
}

void TraceReader::read_head() {
  Block block;
  file_.read_at(BlockReader::first_offset(), block);
  guard_message(path(), block, [&] {
    if (block.type() != BlockType::kTraceHead) throw Malformed("not the block expected here");
    MessageView view(block);
    const auto head = view.root<schema::TraceHead>();
    info_.header.tool_version = string_of(head.getToolVersion());
    info_.header.source = string_of(head.getSource());
    for (const auto word : checked_list(head.getCommandLine())) info_.header.command_line.push_back(string_of(word));
  });
}

// Reads the index from the footer; false if the file has none because it is truncated.
bool TraceReader::read_footer() {
  EndPayload end{};
  if (!file_.read_end(end) || end.footer_offset == 0) return false;
  Block block;
  file_.read_at(end.footer_offset, block);
  guard_message(path(), block, [&] {
    if (block.type() != BlockType::kTraceFoot) throw Malformed("not the block expected here");
    read_footer_lists(block, end.footer_offset);
  });
  info_.complete = true;
  return true;
}

void TraceReader::read_footer_lists(const Block& block, std::uint64_t behind) {
  MessageView view(block);
  const auto foot = view.root<schema::TraceFoot>();
  std::uint64_t before = 0;
  for (const std::uint64_t offset : foot.getNames()) {
    // Offsets must rise strictly, so that a hostile index cannot make us read one block again and again.
    if (offset <= before || offset >= behind) throw Malformed("an offset in the footer is out of order");
    before = offset;
    read_names(offset);
  }
  before = 0;
  for (const auto chunk : foot.getChunks()) {
    if (chunk.getOffset() <= before || chunk.getOffset() >= behind)
      throw Malformed("an offset in the footer is out of order");
    before = chunk.getOffset();
    add_chunk({chunk.getOffset(), chunk.getFirstEvent(), chunk.getCount()});
  }
  if (info_.events != foot.getEvents()) throw Malformed("the footer has another count of events than its chunks");
}

void TraceReader::add_chunk(const ChunkPlace& place) {
  if (place.first_event != info_.events || place.count == 0 || place.count > kMaxChunkEvents)
    throw Malformed("a chunk does not continue the previous one");
  info_.events += place.count;
  chunks_.push_back(place);
}

void TraceReader::read_names(std::uint64_t offset) {
  Block block;
  file_.read_at(offset, block);
  guard_message(path(), block, [&] {
    if (block.type() != BlockType::kTraceNames) throw Malformed("not the block expected here");
    MessageView view(block);
    names_.read(view.root<schema::TraceNames>());
  });
}

// Finds the chunks of a file without a footer. The error that ends the walk is kept as damage_.
void TraceReader::walk_blocks() {
  std::uint64_t offset = BlockReader::first_offset();
  Block block;
  try {
    for (std::uint64_t index = 0;; ++index) {
      const BlockHeader header = file_.header_at(offset, index);
      if (header.sequence != index)
        throw BadFile(path(), Damage::kCorrupt, index, offset, fmt::format("found block {} here", header.sequence));
      if (header.type == static_cast<std::uint32_t>(BlockType::kTraceNames)) {
        read_names(offset);
      } else if (header.type == static_cast<std::uint32_t>(BlockType::kTraceChunk)) {
        file_.read_at(offset, block);
        guard_message(path(), block, [&] {
          MessageView view(block);
          const auto chunk = view.root<schema::TraceChunk>();
          add_chunk({offset, chunk.getFirstEvent(), chunk.getCount()});
        });
      } else if (header.type == static_cast<std::uint32_t>(BlockType::kEnd)) {
        throw BadFile(path(), Damage::kCorrupt, index, offset, "the file has an end but no footer");
      }
      offset = BlockReader::behind(offset, header);
    }
  } catch (const BadFile& bad) {
    damage_ = bad;
  }
}

bool TraceReader::next(TraceChunk& chunk) {
  if (next_chunk_ == chunks_.size()) {
    // A truncated trace ends here like a complete one, but corruption must be reported.
    if (damage_ && damage_->damage() != Damage::kTruncated) throw BadFile(*damage_);
    return false;
  }
  read_chunk(next_chunk_, chunk);
  ++next_chunk_;
  return true;
}

void TraceReader::read_chunk(std::size_t index, TraceChunk& chunk) const {
  Block block;
  TraceDecoder decoder;
  open_chunk(index, block, decoder);
  guard_message(path(), block, [&] { decoder.next(kMaxChunkEvents, chunk); });
}

void TraceReader::open_chunk(std::size_t index, Block& block, TraceDecoder& decoder) const {
  const ChunkPlace& place = chunks_.at(index);
  file_.read_at(place.offset, block);
  guard_message(path(), block, [&] {
    if (block.type() != BlockType::kTraceChunk) throw Malformed("not the block expected here");
    MessageView view(block);
    const auto root = view.root<schema::TraceChunk>();
    if (root.getFirstEvent() != place.first_event || root.getCount() != place.count)
      throw Malformed("the chunk is not the one that the index names");
    decoder.open(root, names_.site_count());
  });
}

TracePieces::TracePieces(const TraceReader& reader, std::size_t limit) : reader_(reader), limit_(limit) {}

bool TracePieces::next(TraceChunk& piece) {
  for (;;) {
    if (guard_message(reader_.path(), block_, [&] { return decoder_.next(limit_, piece); })) return true;
    if (next_chunk_ == reader_.chunk_count()) return false;
    reader_.open_chunk(next_chunk_++, block_, decoder_);
  }
}

}  // namespace reweave
