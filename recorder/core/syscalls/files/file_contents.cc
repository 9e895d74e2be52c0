#include "recorder/core/syscalls/files/file_contents.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/open_own.h"
#include "recorder/core/log/pseudo_calls.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/files/fd_table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

// Logs the contents of `fd` at `base` + `offset` as if they were at `offset`.
void log_piece(long fd, std::uint64_t offset, std::uint64_t bytes, std::uint64_t base) {
  PseudoCall record(wire::kFileContents, bytes);
  record.append_file(offset, fd, bytes, base);
  record.commit();
}

// A record without a chunk is the last.
void log_end() { PseudoCall(wire::kFileContents).commit(); }

void log_pieces(long fd, std::uint64_t offset, std::uint64_t end, std::uint64_t base = 0) {
  for (std::uint64_t at = offset; at < end; at += kPieceBytes)
    log_piece(fd, at, end - at < kPieceBytes ? end - at : kPieceBytes, base);
}

// Logs without skipping holes: without /proc (after chroot), or for block devices, which do not report them.
void log_all(long fd, const struct stat& status, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t size = file_bytes(fd, status);
  log_pieces(fd, offset, offset + bytes < size ? offset + bytes : size);
}

bool is_block_device(const struct stat& status) { return (status.st_mode & S_IFMT) == S_IFBLK; }

bool is_zero_page(std::uint64_t address) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(address);
  for (std::uint64_t i = 0; i < kPage / 8; i++)
    if (words[i] != 0) return false;
  return true;
}

// False: that was the last piece.
bool write_piece(const wire::RecordHeader& piece, long fd, std::uint64_t base) {
  const wire::OutputChunk* chunk = sole_chunk(piece);
  if (chunk != nullptr) sys(SYS_pwrite64, fd, chunk + 1, chunk->bytes, base + chunk->address);
  return chunk != nullptr;
}

// Writes the piece only where `fd` has holes. False: that was the last piece.
bool write_into_holes(const wire::RecordHeader& piece, long fd, std::uint64_t base) {
  const wire::OutputChunk* chunk = sole_chunk(piece);
  if (chunk == nullptr) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(chunk + 1);
  const std::uint64_t start = base + chunk->address, end = start + chunk->bytes;
  for (std::uint64_t at = start; at < end;) {
    const Extent data = next_data(fd, at, end);
    if (data.start > at) sys(SYS_pwrite64, fd, bytes + (at - start), data.start - at, at);
    at = data.end;
  }
  return true;
}

}  // namespace

std::uint64_t file_bytes(long fd, const struct stat& status) {
  auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (is_block_device(status)) sys(SYS_ioctl, fd, BLKGETSIZE64, &bytes);
  return bytes;
}

Extent next_data(long fd, std::uint64_t from, std::uint64_t end) {
  const long data = from < end ? sys(SYS_lseek, fd, from, SEEK_DATA) : -1;
  if (is_error(data) || static_cast<std::uint64_t>(data) >= end) return {end, end};
  const long hole = sys(SYS_lseek, fd, data, SEEK_HOLE);
  const std::uint64_t stop = is_error(hole) ? end : static_cast<std::uint64_t>(hole);
  return {static_cast<std::uint64_t>(data), stop < end ? stop : end};
}

void log_contents(long fd, std::uint64_t offset, std::uint64_t bytes) {
  Text name;
  name << "thread-self/fd/" << static_cast<int>(fd);
  // A descriptor of the core's own, because searching for data moves the file position.
  const long own = open_own(kProcFd, name.c_str(), O_RDONLY);
  const std::uint64_t end = offset + bytes;
  struct stat status = {};
  sys(SYS_fstat, fd, &status);
  const bool all = is_error(own) || is_block_device(status);
  Extent data = all ? Extent{end, end} : next_data(own, offset, end);
  for (; data.start < data.end; data = next_data(own, data.end, end)) log_pieces(own, data.start, data.end);
  if (all) log_all(is_error(own) ? fd : own, status, offset, bytes);
  if (!is_error(own)) sys(SYS_close, own);
  log_end();
}

void log_part(long fd, std::uint64_t base, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t start = base + offset, end = start + bytes;
  for (Extent data = next_data(fd, start, end); data.start < data.end; data = next_data(fd, data.end, end))
    log_pieces(fd, data.start - base, data.end - base, base);
  log_end();
}

void log_small_file(long fd, std::uint64_t bytes) {
  log_pieces(fd, 0, bytes);
  log_end();
}

void log_small_file(const std::byte* data, std::uint64_t bytes) {
  if (bytes != 0) {
    PseudoCall record(wire::kFileContents, bytes);
    record.append_chunk(0, data, bytes);
    record.commit();
  }
  log_end();
}

void log_memory(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset) {
  for (std::uint64_t at = 0; at < bytes; at += kPage) {
    if (is_zero_page(start + at)) continue;
    PseudoCall record(wire::kFileContents, kPage);
    record.append_chunk(offset + at, reinterpret_cast<const void*>(start + at), kPage);
    record.commit();
  }
  log_end();
}

void take_contents(long fd, std::uint64_t base) {
  for (bool more = true; more;) {
    const auto& record = expect<wire::SyscallRecord>(wire::RecordKind::kSyscall, "mapped a file");
    if (!is_pseudo_call(record.header, wire::kFileContents)) diverged("mapped a file", &record.header);
    more = write_piece(record.header, fd, base);
    consume_record();
  }
}

// The file position is the start of the free room: processes that fork share it together with the file.
std::uint64_t room_for_contents(std::uint64_t bytes) {
  constexpr long kAtATime = 1 << 20;  // size of one file: a mapping of any part keeps all of it
  const auto room = static_cast<long>(page_up(bytes));
  const long end = sys(SYS_lseek, kContentsFd, room, SEEK_CUR);
  if (!is_error(end) && end <= kAtATime) return static_cast<std::uint64_t>(end - room);
  const long fd = sys(SYS_memfd_create, "contents", MFD_CLOEXEC);
  const bool made = !is_error(sys(SYS_ftruncate, fd, kAtATime)) && sys(SYS_lseek, fd, room, SEEK_SET) == room &&
                    !is_error(sys(SYS_dup3, fd, kContentsFd, O_CLOEXEC));
  if (!made) bug("cannot make a file for the mapped contents");
  sys(SYS_close, fd);
  return 0;
}

void copy_contents(const wire::MapFileRecord& mapping, long fd, std::uint64_t base, bool only_holes) {
  const auto write = only_holes ? write_into_holes : write_piece;
  const wire::RecordHeader* record = record_after(mapping.header);
  while (is_pseudo_call(*record, wire::kFileContents) && write(*record, fd, base)) record = record_after(*record);
}

}  // namespace reweave::core
