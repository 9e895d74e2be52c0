// Reads a trace, in order or chunk by chunk in any order.
//
// Opening reads the names (sites, modules, threads) and the index of chunks: from the footer of a finished trace, else
// by walking the block headers of a truncated one up to its last whole chunk. Damage is a BadFile; chunks before it
// are handed out. Threads: read_chunk may be called from several at once, each with its own TraceChunk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/base/block_file.h"
#include "formats/trace/trace_decoder.h"
#include "formats/trace/trace_names.h"
#include "formats/trace/trace_writer.h"

namespace reweave {

struct TraceInfo {
  TraceHeader header;
  bool complete = false;     // finished by its writer
  std::uint64_t events = 0;  // readable events, if nothing is corrupt
  std::uint32_t sites = 0;
  // The threads announced to the writer; if none was announced, only the first thread.
  std::uint32_t thread_count = 0;
  std::vector<ModuleInfo> modules;
  std::vector<TraceThreadInfo> threads;
};

class TraceReader {
 public:
  explicit TraceReader(const std::string& path);

  const TraceInfo& info() const { return info_; }
  const std::string& path() const { return file_.path(); }

  // Decodes the next chunk; false at the end. Throws BadFile where the chunk is damaged.
  bool next(TraceChunk& chunk);
  std::size_t chunk_count() const { return chunks_.size(); }
  const ChunkPlace& chunk_place(std::size_t index) const { return chunks_.at(index); }
  // Decodes one chunk. Thread-safe.
  void read_chunk(std::size_t index, TraceChunk& chunk) const;

  // Begins to decode one chunk. `block` must outlive the use of `decoder`, which reads from it. Throws BadFile.
  // Thread-safe.
  void open_chunk(std::size_t index, Block& block, TraceDecoder& decoder) const;

  // The damage at the end of the readable part, if not info().complete.
  const std::optional<BadFile>& damage() const { return damage_; }

  // `site` is from a chunk; out of range throws std::out_of_range.
  std::uint64_t pc_of(std::uint32_t site) const { return names_.site(site).pc; }
  // The calls that stacks consist of; the call with id n is at index n - 1.
  const std::vector<CallInfo>& calls() const { return names_.calls(); }
  SiteLocation site_location(std::uint32_t site) const { return names_.locate(site); }

 private:
  void read_head();
  bool read_footer();
  void read_footer_lists(const Block& block, std::uint64_t behind);
  void walk_blocks();
  void read_names(std::uint64_t offset);
  void add_chunk(const ChunkPlace& place);

  BlockReader file_;
  TraceInfo info_;
  TraceNames names_;
  std::vector<ChunkPlace> chunks_;
  std::size_t next_chunk_ = 0;
  std::optional<BadFile> damage_;
};

// The events of a trace in pieces that fit into a processor's caches. In a damaged chunk, the pieces before the damage
// are handed out.
class TracePieces {
 public:
  // `limit`: the most events in a piece; above 0.
  TracePieces(const TraceReader& reader, std::size_t limit);
  // Decodes the next piece; false at the end. Throws BadFile where a chunk is damaged.
  bool next(TraceChunk& piece);

 private:
  const TraceReader& reader_;
  std::size_t limit_;
  std::size_t next_chunk_ = 0;
  Block block_;
  TraceDecoder decoder_;
};

}  // namespace reweave
