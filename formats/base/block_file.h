// Framed blocks: the container of every file that Reweave writes.
//
//   file:   FileHeader  block  block ...  end block
//   block:  BlockHeader  payload (zstd, or stored uncompressed if that is not larger)
//
// A writer that is killed loses at most the block it was writing; a reader returns every block before the damage, and
// distinguishes a finished file from a truncated one. Integers from the file are checked before they are used; a
// block's memory is bounded by kMaxRawBytes. Bytes on disk: docs/recording-format.md. Threads: a BlockWriter belongs to
// one thread; BlockReader::read_at may be called from several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/fd.h"
#include "formats/base/folder.h"

struct ZSTD_CCtx_s;

namespace reweave {

inline constexpr std::uint32_t kFormatVersion = 4;
inline constexpr std::uint32_t kMaxRawBytes = 64u << 20;

// The types of files. Values are part of the format: append only.
enum class FileType : std::uint32_t { kManifest = 1, kEvents = 2, kTrace = 3, kSchedule = 4, kCandidates = 5 };
const char* name_of(FileType type);

// The types of blocks. Values are part of the format: append only.
enum class BlockType : std::uint32_t {
  kEnd = 1,        // last block of a complete file; payload: EndPayload
  kMessage = 2,    // one Cap'n Proto message, the whole content of manifests, schedules and candidates
  kEvents = 3,     // recording.capnp EventBlock
  kTraceHead = 4,  // trace.capnp TraceHead
  kTraceNames = 5,
  kTraceChunk = 6,
  kTraceFoot = 7,
};

// First bytes of a file. Little-endian.
struct FileHeader {
  char magic[8];  // "REWEAVE\n"
  std::uint32_t version;
  std::uint32_t type;
};
static_assert(sizeof(FileHeader) == 16);

struct BlockHeader {
  std::uint32_t magic;  // kBlockMagic
  std::uint32_t type;
  std::uint32_t raw_bytes;     // of the payload once decompressed, <= kMaxRawBytes
  std::uint32_t stored_bytes;  // in the file; equal to raw_bytes if not compressed, never larger
  std::uint32_t sequence;      // 0, 1, 2, ... so that a lost or repeated block shows
  std::uint32_t header_check;  // low half of xxh3-64 over the fields above
  std::uint64_t checksum;      // xxh3-64 over the fields above and the stored payload
};
static_assert(sizeof(BlockHeader) == 32);
inline constexpr std::uint32_t kBlockMagic = 0x4b4c4252;  // "RBLK"

// Payload of the end block. It is never compressed, so the end block has a fixed size and can be found from the end of
// the file.
struct EndPayload {
  std::uint64_t blocks;         // before this one
  std::uint64_t footer_offset;  // of the block that the file type calls its footer, or 0
};
static_assert(sizeof(EndPayload) == 16);

class BlockWriter {
 public:
  // A pseudo compression level, which zstd does not use (0 is its default): blocks are stored uncompressed.
  static constexpr int kAsIs = std::numeric_limits<int>::min();
  // The fastest useful zstd level: it passes over incompressible data at the speed of copying.
  static constexpr int kFast = -7;

  // Writes to `file`, which is empty; `path` is for messages. `level` is zstd's, or kAsIs.
  BlockWriter(Fd file, std::string path, FileType type, int level = 1);
  // Creates `path` (mode 0600), which must not exist.
  BlockWriter(const std::string& path, FileType type, int level = 1);
  // Continues an existing file after its first `blocks` blocks, which end at `offset`; the rest is truncated.
  BlockWriter(Fd file, std::string path, std::uint64_t blocks, std::uint64_t offset, int level);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // Sets the level for the blocks that follow. Blocks that seem hard to compress still get a faster one.
  void set_level(int level) { level_ = level; }

  // Appends a block and hands it to the OS. Returns the block's offset in the file.
  std::uint64_t write(BlockType type, std::span<const std::byte> raw);
  // Writes the end block and closes the file. Without this call the file counts as truncated.
  void finish(std::uint64_t footer_offset = 0);

  std::uint64_t bytes_written() const { return offset_; }
  const std::string& path() const { return path_; }

 private:
  void write_all(std::span<const std::byte> head, std::span<const std::byte> tail = {});
  // The level for this block: the one set, kFast if it will shrink little, or kAsIs.
  int level_for(std::span<const std::byte> raw);
  // The result is valid until the next call.
  std::span<const std::byte> compress(std::span<const std::byte> raw, int level);
  std::uint64_t write_stored(BlockType type, std::uint32_t raw_bytes, std::span<const std::byte> stored);

  std::string path_;
  Fd fd_;
  int level_;
  ZSTD_CCtx_s* context_;
  std::vector<std::byte> compressed_;
  std::uint64_t offset_ = 0;
  std::uint32_t sequence_ = 0;
};

// A block read. The payload is aligned for Cap'n Proto; the object is reused to save allocations.
class Block {
 public:
  BlockType type() const { return type_; }
  std::uint64_t index() const { return index_; }
  std::uint64_t offset() const { return offset_; }
  std::span<const std::byte> payload() const {
    return {reinterpret_cast<const std::byte*>(words_.data()), payload_bytes_};
  }
  std::span<const std::uint64_t> words() const { return {words_.data(), payload_bytes_ / 8}; }

 private:
  friend class BlockReader;
  BlockType type_ = BlockType::kEnd;
  std::uint64_t index_ = 0;
  std::uint64_t offset_ = 0;
  std::size_t payload_bytes_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::byte> stored_;
};

class BlockReader {
 public:
  // Reads `file`, a regular file; `path` is for messages. Throws BadFile if it is of another type or of an unknown
  // version.
  BlockReader(Fd file, std::string path, FileType type);
  // Reads the file at `path`, which the user named.
  BlockReader(const std::string& path, FileType type) : BlockReader(open_regular(path), path, type) {}

  // Reads the next block; false after the end block. Throws BadFile at damage; a file without an end is
  // Damage::kTruncated. After a throw, every further call throws the same.
  bool next(Block& block);
  // Continues at the block number `index`, which starts at `offset`.
  void go_to(std::uint64_t offset, std::uint64_t index) {
    offset_ = offset;
    index_ = index;
    ended_ = false;
  }
  // Reads the block at `offset`, independently of next(). Thread-safe.
  void read_at(std::uint64_t offset, Block& block) const;
  // Reads the header of the block at `offset` and verifies its header_check. `index` is for messages. Throws as read_at
  // does.
  BlockHeader header_at(std::uint64_t offset, std::uint64_t index) const;
  // Offset just past the block whose header is given.
  static std::uint64_t behind(std::uint64_t offset, const BlockHeader& header) {
    return offset + sizeof(BlockHeader) + header.stored_bytes;
  }
  // Reads the end block's payload. False if the file does not end with a valid end block.
  bool read_end(EndPayload& end) const;

  static constexpr std::uint64_t first_offset() { return sizeof(FileHeader); }
  std::uint64_t file_bytes() const { return file_bytes_; }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(Damage damage, std::uint64_t index, std::uint64_t offset, std::string_view reason) const;
  std::size_t read_bytes(std::uint64_t offset, void* into, std::size_t bytes) const;
  void read_payload(std::uint64_t offset, const BlockHeader& header, Block& block) const;
  void check_end(const Block& block) const;

  std::string path_;
  Fd fd_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t offset_ = sizeof(FileHeader);
  std::uint64_t index_ = 0;
  bool ended_ = false;
};

}  // namespace reweave
