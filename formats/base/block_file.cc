#include "formats/base/block_file.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <xxhash.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

namespace reweave {
namespace {

constexpr char kFileMagic[8] = {'R', 'E', 'W', 'E', 'A', 'V', 'E', '\n'};
constexpr std::size_t kEndBlockBytes = sizeof(BlockHeader) + sizeof(EndPayload);
// Below this, compressing costs more than it saves.
constexpr std::size_t kLeastPayload = 64;
// For payloads up to this size, smaller tables compress equally well, and clearing the level's usual tables would take
// most of the time.
constexpr std::size_t kSmallPayload = 32 << 10;
constexpr int kSmallTableLog = 11, kTableOfLevel = 0;
// For larger payloads, a sample of a few pieces decides how much work compression is worth.
constexpr std::size_t kPieces = 4, kPieceBytes = 4 << 10;
static_assert(kSmallPayload / kPieces >= kPieceBytes);

std::uint32_t header_check(const BlockHeader& header) {
  return static_cast<std::uint32_t>(XXH3_64bits(&header, offsetof(BlockHeader, header_check)));
}

std::uint64_t block_checksum(const BlockHeader& header, const void* payload, std::size_t bytes) {
  // Seeding the payload's hash with the header's covers both without copying them together.
  return XXH3_64bits_withSeed(payload, bytes, XXH3_64bits(&header, offsetof(BlockHeader, checksum)));
}

}  // namespace

const char* name_of(FileType type) {
  static constexpr const char* kNames[] = {"unknown file", "recording manifest", "recorded events",
                                           "trace",        "schedule",           "candidates"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(FileType::kCandidates) + 1);
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

BlockWriter::BlockWriter(Fd file, std::string path, FileType type, int level)
    : path_(std::move(path)), fd_(std::move(file)), level_(level), context_(ZSTD_createCCtx()) {
  CHECK(context_ != nullptr);
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof header.magic);
  header.version = kFormatVersion;
  header.type = static_cast<std::uint32_t>(type);
  write_all(std::as_bytes(std::span(&header, 1)));
}

BlockWriter::BlockWriter(Fd file, std::string path, std::uint64_t blocks, std::uint64_t offset, int level)
    : path_(std::move(path)),
      fd_(std::move(file)),
      level_(level),
      offset_(offset),
      sequence_(static_cast<std::uint32_t>(blocks)) {
  SYSCALL_CHECK(::ftruncate(fd_.get(), static_cast<off_t>(offset)), "{}", path_);
  SYSCALL_CHECK(::lseek(fd_.get(), 0, SEEK_END), "{}", path_);
  context_ = ZSTD_createCCtx();
  CHECK(context_ != nullptr);
}

BlockWriter::BlockWriter(const std::string& path, FileType type, int level)
    : BlockWriter(Folder::open_parent(path).create_file(name_in_parent(path)), path, type, level) {}

BlockWriter::~BlockWriter() { ZSTD_freeCCtx(context_); }

void BlockWriter::write_all(std::span<const std::byte> head, std::span<const std::byte> tail) {
  while (!head.empty() || !tail.empty()) {
    const iovec parts[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                            {const_cast<std::byte*>(tail.data()), tail.size()}};
    const ssize_t written = ::writev(fd_.get(), parts, 2);
    if (written < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(written, "{}", path_);
    const std::size_t of_head = std::min(head.size(), static_cast<std::size_t>(written));
    head = head.subspan(of_head);
    tail = tail.subspan(static_cast<std::size_t>(written) - of_head);
    offset_ += static_cast<std::uint64_t>(written);
  }
}

std::span<const std::byte> BlockWriter::compress(std::span<const std::byte> raw, int level) {
  const auto set = [this](ZSTD_cParameter parameter, int value) {
    CHECK(ZSTD_isError(ZSTD_CCtx_setParameter(context_, parameter, value)) == 0);
  };
  set(ZSTD_c_compressionLevel, level);
  for (ZSTD_cParameter table : {ZSTD_c_hashLog, ZSTD_c_chainLog})
    set(table, raw.size() <= kSmallPayload ? kSmallTableLog : kTableOfLevel);
  compressed_.resize(ZSTD_compressBound(raw.size()));
  const std::size_t bytes = ZSTD_compress2(context_, compressed_.data(), compressed_.size(), raw.data(), raw.size());
  CHECK(ZSTD_isError(bytes) == 0, "zstd: {}", ZSTD_getErrorName(bytes));
  return std::span(compressed_).first(bytes);
}

int BlockWriter::level_for(std::span<const std::byte> raw) {
  if (raw.size() <= kSmallPayload || level_ == kAsIs) return level_;
  std::vector<std::byte> sample;
  for (std::size_t i = 0; i < kPieces; i++) {
    const auto piece = raw.subspan(raw.size() / kPieces * i).first(kPieceBytes);
    sample.insert(sample.end(), piece.begin(), piece.end());
  }
  const std::size_t shrunk = compress(sample, kFast).size();
  if (shrunk > sample.size() - sample.size() / 16) return kAsIs;
  return shrunk > sample.size() - sample.size() / 4 ? std::min(level_, kFast) : level_;
}

std::uint64_t BlockWriter::write(BlockType type, std::span<const std::byte> raw) {
  CHECK(fd_.valid(), "{} is finished", path_);
  CHECK(raw.size() <= kMaxRawBytes, "block of {} bytes", raw.size());
  const auto raw_bytes = static_cast<std::uint32_t>(raw.size());
  const int level = type == BlockType::kEnd || raw.size() <= kLeastPayload ? kAsIs : level_for(raw);
  if (level == kAsIs) return write_stored(type, raw_bytes, raw);
  const std::span<const std::byte> compressed = compress(raw, level);
  return write_stored(type, raw_bytes, compressed.size() < raw.size() ? compressed : raw);
}

std::uint64_t BlockWriter::write_stored(BlockType type, std::uint32_t raw_bytes, std::span<const std::byte> stored) {
  BlockHeader header{};
  header.magic = kBlockMagic;
  header.type = static_cast<std::uint32_t>(type);
  header.raw_bytes = raw_bytes;
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header.sequence = sequence_++;
  header.header_check = header_check(header);
  header.checksum = block_checksum(header, stored.data(), stored.size());
  const std::uint64_t offset = offset_;
  write_all(std::as_bytes(std::span(&header, 1)), stored);
  return offset;
}

void BlockWriter::finish(std::uint64_t footer_offset) {
  const EndPayload end{sequence_, footer_offset};
  write(BlockType::kEnd, std::as_bytes(std::span(&end, 1)));
  fd_.reset();
}

BlockReader::BlockReader(Fd file, std::string path, FileType type) : path_(std::move(path)), fd_(std::move(file)) {
  struct stat status {};
  SYSCALL_CHECK(::fstat(fd_.get(), &status), "{}", path_);
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  FileHeader header{};
  const std::size_t got = read_bytes(0, &header, sizeof header);
  const std::size_t magic_got = std::min(got, sizeof header.magic);
  if (std::memcmp(header.magic, kFileMagic, magic_got) != 0 || file_bytes_ == 0)
    fail(Damage::kWrongType, 0, 0, "not a file written by Reweave");
  if (got < sizeof header) fail(Damage::kTruncated, 0, 0, "the file ends inside its header");
  if (header.version == 0) fail(Damage::kCorrupt, 0, 0, "format version 0");
  if (header.version != kFormatVersion)
    fail(Damage::kOtherVersion, 0, 0,
         fmt::format("written in format version {}, this program knows version {}: {}", header.version, kFormatVersion,
                     header.version > kFormatVersion ? "use a newer Reweave" : "record it again"));
  if (header.type != static_cast<std::uint32_t>(type))
    fail(Damage::kWrongType, 0, 0,
         fmt::format("is a {}, not a {}", name_of(static_cast<FileType>(header.type)), name_of(type)));
}

void BlockReader::fail(Damage damage, std::uint64_t index, std::uint64_t offset, std::string_view reason) const {
  throw BadFile(path_, damage, index, offset, reason);
}

std::size_t BlockReader::read_bytes(std::uint64_t offset, void* into, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd_.get(), static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    SYSCALL_CHECK(got, "{}", path_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

BlockHeader BlockReader::header_at(std::uint64_t offset, std::uint64_t index) const {
  BlockHeader header{};
  if (offset >= file_bytes_) fail(Damage::kTruncated, index, offset, "the file ends without an end block");
  const std::size_t got = read_bytes(offset, &header, sizeof header);
  if (got < sizeof header) fail(Damage::kTruncated, index, offset, "the file ends inside a block header");
  if (header.magic != kBlockMagic) fail(Damage::kCorrupt, index, offset, "no block starts here");
  if (header.header_check != header_check(header)) fail(Damage::kCorrupt, index, offset, "block header damaged");
  if (header.raw_bytes > kMaxRawBytes)
    fail(Damage::kCorrupt, index, offset, fmt::format("block of {} bytes exceeds the limit", header.raw_bytes));
  if (header.stored_bytes > header.raw_bytes) fail(Damage::kCorrupt, index, offset, "stored size exceeds the raw size");
  if (header.stored_bytes > file_bytes_ - offset - sizeof header)
    fail(Damage::kTruncated, index, offset, "the file ends inside a block");
  return header;
}

void BlockReader::read_payload(std::uint64_t offset, const BlockHeader& header, Block& block) const {
  const std::uint64_t index = header.sequence;
  block.type_ = static_cast<BlockType>(header.type);
  block.index_ = index;
  block.offset_ = offset;
  block.payload_bytes_ = header.raw_bytes;
  block.stored_.resize(header.stored_bytes);
  if (read_bytes(offset + sizeof header, block.stored_.data(), header.stored_bytes) != header.stored_bytes)
    fail(Damage::kTruncated, index, offset, "the file ends inside a block");
  if (block_checksum(header, block.stored_.data(), header.stored_bytes) != header.checksum)
    fail(Damage::kCorrupt, index, offset, "checksum differs");
  // The slack after the payload is never exposed; the last partial word is zeroed for determinism.
  block.words_.resize(header.raw_bytes / 8 + 1);
  block.words_.back() = 0;
  if (header.stored_bytes == header.raw_bytes) {
    if (header.raw_bytes != 0) std::memcpy(block.words_.data(), block.stored_.data(), header.raw_bytes);
    return;
  }
  const std::size_t bytes =
      ZSTD_decompress(block.words_.data(), header.raw_bytes, block.stored_.data(), header.stored_bytes);
  if (ZSTD_isError(bytes) != 0)
    fail(Damage::kCorrupt, index, offset, fmt::format("zstd: {}", ZSTD_getErrorName(bytes)));
  if (bytes != header.raw_bytes) fail(Damage::kCorrupt, index, offset, "decompresses to another size than stated");
}

void BlockReader::read_at(std::uint64_t offset, Block& block) const {
  const BlockHeader header = header_at(offset, 0);
  read_payload(offset, header, block);
}

bool BlockReader::next(Block& block) {
  if (ended_) return false;
  const BlockHeader header = header_at(offset_, index_);
  if (header.sequence != index_)
    fail(Damage::kCorrupt, index_, offset_, fmt::format("found block {} here", header.sequence));
  read_payload(offset_, header, block);
  if (block.type() == BlockType::kEnd) {
    check_end(block);
    ended_ = true;
    return false;
  }
  offset_ = behind(offset_, header);
  ++index_;
  return true;
}

void BlockReader::check_end(const Block& block) const {
  if (block.payload().size() != sizeof(EndPayload)) fail(Damage::kCorrupt, index_, offset_, "end block malformed");
  if (offset_ + kEndBlockBytes != file_bytes_) fail(Damage::kCorrupt, index_, offset_, "bytes follow the end block");
  EndPayload end{};
  std::memcpy(&end, block.payload().data(), sizeof end);
  if (end.blocks != index_) fail(Damage::kCorrupt, index_, offset_, "end block counts other blocks");
}

bool BlockReader::read_end(EndPayload& end) const {
  if (file_bytes_ < sizeof(FileHeader) + kEndBlockBytes) return false;
  const std::uint64_t offset = file_bytes_ - kEndBlockBytes;
  try {
    Block block;
    read_at(offset, block);
    if (block.type() != BlockType::kEnd || block.payload().size() != sizeof end) return false;
    std::memcpy(&end, block.payload().data(), sizeof end);
  } catch (const BadFile&) {
    return false;
  }
  return end.footer_offset < offset;
}

}  // namespace reweave
