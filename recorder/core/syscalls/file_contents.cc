#include "recorder/core/syscalls/file_contents.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/core/address_space.h"
#include "recorder/core/fatal.h"
#include "recorder/core/model.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

// One record: `bytes` bytes at `offset` of the file, from `fd` or, if that is -1, from memory at `from`; with none, the
// last. Its buffer is the record itself.
void log_piece(long fd, std::uint64_t from, std::uint64_t offset, std::uint64_t bytes) {
  RecordWriter record(wire::RecordKind::kSyscall, self().id, sizeof(wire::SyscallRecord),
                      bytes == 0 ? 0 : sizeof(wire::OutputChunk) + round_to(bytes, 8));
  auto& body = record.body<wire::SyscallRecord>();
  memset(&body.number, 0, sizeof body - sizeof body.header);
  body.number = kFileContents;
  body.step = state().step;
  if (bytes != 0) {
    auto* buffer = reinterpret_cast<std::byte*>(&body + 1) + sizeof(wire::OutputChunk);
    const long got = fd >= 0 ? sys(SYS_pread64, fd, buffer, bytes, offset) : static_cast<long>(bytes);
    const wire::OutputChunk chunk = {offset, got > 0 ? static_cast<std::uint64_t>(got) : 0};
    record.append(&chunk, sizeof chunk);
    if (chunk.bytes != 0) record.append(fd >= 0 ? buffer : reinterpret_cast<std::byte*>(from + offset), chunk.bytes);
  }
  record.commit();
}

// Without /proc, as after chroot, holes are not looked for.
void log_all(long fd, std::uint64_t offset, std::uint64_t bytes) {
  struct stat status = {};
  if (is_error(sys(SYS_fstat, fd, &status))) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t end = offset + bytes < size ? offset + bytes : size;
  for (std::uint64_t at = offset; at < end; at += kPieceBytes)
    log_piece(fd, 0, at, end - at < kPieceBytes ? end - at : kPieceBytes);
}

bool is_zero_page(std::uint64_t address) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(address);
  for (std::uint64_t i = 0; i < kPage / 8; i++)
    if (words[i] != 0) return false;
  return true;
}

bool is_piece(const wire::RecordHeader* record) {
  return record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
         reinterpret_cast<const wire::SyscallRecord*>(record)->number == kFileContents;
}

// False: that was the last piece.
bool write_piece(const wire::RecordHeader& piece, long fd, std::uint64_t base) {
  const auto* chunk =
      reinterpret_cast<const wire::OutputChunk*>(&reinterpret_cast<const wire::SyscallRecord&>(piece) + 1);
  const std::uint64_t extra = piece.bytes - sizeof(wire::SyscallRecord);
  const bool some = extra >= sizeof *chunk && chunk->bytes <= extra - sizeof *chunk;
  if (some) sys(SYS_pwrite64, fd, chunk + 1, chunk->bytes, base + chunk->address);
  return some;
}

}  // namespace

void log_contents(long fd, std::uint64_t offset, std::uint64_t bytes) {
  Text name;
  name << "/proc/self/fd/" << static_cast<int>(fd);
  // A descriptor of our own, for looking for data moves the file position.
  const long own = sys(SYS_open, name.c_str(), O_RDONLY | O_CLOEXEC);
  const std::uint64_t end = offset + bytes;
  std::uint64_t at = offset;
  while (!is_error(own) && at < end) {
    const long data = sys(SYS_lseek, own, at, SEEK_DATA);
    if (is_error(data) || static_cast<std::uint64_t>(data) >= end) break;
    const long hole = sys(SYS_lseek, own, data, SEEK_HOLE);
    at = static_cast<std::uint64_t>(data);
    std::uint64_t stop = is_error(hole) ? end : static_cast<std::uint64_t>(hole);
    if (stop > end) stop = end;
    if (stop <= at) break;  // a device
    const std::uint64_t piece = stop - at < kPieceBytes ? stop - at : kPieceBytes;
    log_piece(own, 0, at, piece);
    at += piece;
  }
  if (!is_error(own)) sys(SYS_close, own);
  if (is_error(own)) log_all(fd, offset, bytes);
  log_piece(-1, 0, 0, 0);
}

void log_memory(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset) {
  for (std::uint64_t at = 0; at < bytes; at += kPage)
    if (!is_zero_page(start + at)) log_piece(-1, start - offset, offset + at, kPage);
  log_piece(-1, 0, 0, 0);
}

void take_contents(long fd, std::uint64_t base) {
  for (bool more = true; more;) {
    const auto& record = expect<wire::SyscallRecord>(wire::RecordKind::kSyscall, "mapped a file");
    if (!is_piece(&record.header)) diverged("mapped a file", &record.header);
    more = write_piece(record.header, fd, base);
    consume_record();
  }
}

void copy_contents(const wire::MapFileRecord& mapping, long fd) {
  const wire::RecordHeader* record = model_record_after(mapping.header);
  while (is_piece(record) && write_piece(*record, fd, 0)) record = model_record_after(*record);
}

}  // namespace reweave::core
